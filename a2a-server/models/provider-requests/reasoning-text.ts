/**
 * Sends the reasoning of earlier turns to Ollama and vLLM in the field `reasoning`. `@ai-sdk/openai-compatible` sends
 * reasoning in `reasoning_content`. DeepSeek and llama.cpp read that field, but Ollama and vLLM ignore it.
 *
 * Sources: `Message` in https://github.com/ollama/ollama/blob/main/openai/openai.go, and `_parse_chat_message_content`
 * in https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/chat_utils.py
 */
import type { LanguageModelV3Prompt } from '@ai-sdk/provider';

/** Moves the reasoning of each turn from its parts to its message. */
export function moveReasoningTextToMessages(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.map((message) => {
    if (message.role !== 'assistant') return message;
    const reasoning = message.content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
    if (reasoning === '') return message;
    return {
      ...message,
      content: message.content.filter(({ type }) => type !== 'reasoning'),
      providerOptions: { ...message.providerOptions, openaiCompatible: { reasoning } },
    };
  });
}
