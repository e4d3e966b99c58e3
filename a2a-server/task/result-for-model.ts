import { answerText } from '../../shared/protocol/preview-text.ts';
import type { ToolOutcome } from './events.ts';
import type { StoredFile } from './stored-file.ts';
import { questionOfCall, type Call } from './snapshot.ts';

interface ModelResult {
  text: string;
  isError: boolean;
  files?: readonly StoredFile[];
}

/** Returns the result of a tool call for the model. D4: the text also describes a person's edit. */
export function resultForModel(call: Call): ModelResult {
  if (call.state.type !== 'settled')
    return { text: 'This call was not run: the task ended first.', isError: true };
  const { result } = call.state;
  const because = 'reason' in result && result.reason ? ` Reason: ${result.reason}` : '';
  switch (result.type) {
    case 'answered':
      return { text: answerText(result.answer), isError: false };
    case 'withdrawn':
      return { text: 'The question was withdrawn before an answer.', isError: true };
    case 'denied':
      if (questionOfCall(call) !== undefined)
        return { text: `The person declined to answer.${because}`, isError: true };
      return { text: `The person denied this call; it was not run.${because}`, isError: true };
    case 'skipped':
      return {
        text: `The server stopped while this call ran. Whether it took effect is unknown, and the person chose not to run it again.${because}`,
        isError: true,
      };
    case 'refused':
      return { text: result.message, isError: true };
    case 'ran': {
      const ran = outcomeText(result.outcome);
      if (call.originalInput === null) return ran;
      const edit = `The person changed the input before approving. It ran with: ${JSON.stringify(call.input)}`;
      return { ...ran, text: `${edit}\n\n${ran.text}` };
    }
  }
}

function outcomeText(outcome: ToolOutcome): ModelResult {
  switch (outcome.type) {
    case 'ok':
      return { text: outcome.text, isError: false, ...(outcome.files && { files: outcome.files }) };
    case 'error':
      return { text: outcome.message, isError: true };
    case 'stopped': {
      const doubt = outcome.confirmed
        ? ''
        : ' It did not confirm that it stopped and may have had an effect.';
      const output = outcome.text === '' ? '' : `\n\nOutput before the stop:\n${outcome.text}`;
      return { text: `${outcome.message}${doubt}${output}`, isError: true };
    }
  }
}
