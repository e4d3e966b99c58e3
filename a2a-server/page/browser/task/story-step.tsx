/** Draws one step of a task's story. Texts of agents, tools and clients are untrusted. */
import { useState } from 'preact/hooks';
import { visibleLine, visibleText } from '../../../../shared/text/visible-text.ts';
import { channelText } from '../../../../shared/text/channel-text.ts';
import { joinTexts } from '../../../../shared/text/join-texts.ts';
import { byText } from '../../../../shared/text/decided-by-text.ts';
import { capitalizedDecidedByText } from '../action/decided-elsewhere-text.ts';
import { isolateRightToLeft } from '../isolate-right-to-left.tsx';
import { callStateLabel, exactDurationText } from './call-state.ts';
import { Markdown } from './markdown.tsx';
import { STATE_TEXTS } from '../state-text.ts';
import type { StoryCall, StoryReasoning, StoryStep, StoryToolExecution } from './story.ts';
import { ChangedFiles, StoryStepHead, StoryStepTime } from './story-step-parts.tsx';
import { TodoChanges } from './todo-list.tsx';

export function StoryStepView({ step, live }: { step: StoryStep; live: boolean }) {
  switch (step.type) {
    case 'message':
      return (
        <>
          <StoryStepHead at={step.at}>Message {channelText(step.channel)}</StoryStepHead>
          <p class="plain">{visibleText(step.text)}</p>
          {step.files.map(({ name, mediaType, bytes }) => (
            <small class="quiet">{visibleLine(`${name} (${mediaType}, ${bytes} bytes)`)}</small>
          ))}
        </>
      );
    case 'text':
      return (
        <div aria-label="Text of the agent" role="group">
          <StoryStepHead at={step.at}>{step.name === '' ? 'Agent' : visibleLine(step.name)}</StoryStepHead>
          {step.abandoned !== undefined && (
            <p class="warning">The task ignores this text: {visibleLine(step.abandoned)}</p>
          )}
          <Markdown text={step.text} />
        </div>
      );
    case 'reasoning':
      return <Reasoning step={step} />;
    case 'todos':
      return <TodoChanges step={step} />;
    case 'call':
      return <Call call={step} live={live} />;
    case 'note':
      return <StoryStepHead at={step.at}>{visibleLine(step.text)}</StoryStepHead>;
    case 'question':
      return (
        <StoryStepHead at={step.at}>The agent waits for a reply: {visibleText(step.text)}</StoryStepHead>
      );
    case 'revoked':
      return (
        <StoryStepHead at={step.at}>
          {step.count === 1 ? 'A grant was' : `${step.count} grants were`} revoked {byText(step)}
        </StoryStepHead>
      );
    case 'ended':
      return (
        // The head of the task shows the agent's message about the end, so this step does not repeat it.
        <StoryStepHead at={step.at}>The task ended: {STATE_TEXTS[step.state]}</StoryStepHead>
      );
  }
}

/** Draws the reasoning of the model, folded. It is not part of the answer. */
function Reasoning({ step: { at, text } }: { step: StoryReasoning }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="quiet">Reasoning of the model, not part of the answer</span> <StoryStepTime at={at} />
      </summary>
      {open && <p class="plain quiet">{visibleText(text.trim())}</p>}
    </details>
  );
}

/** Draws the details of a tool call only while they are open, because a story may have thousands of calls. */
function Call({ call, live }: { call: StoryCall; live: boolean }) {
  const { title, runs, at } = call;
  const { word, tone } = callStateLabel(call, live);
  const run = runs.at(-1);
  /**
   * The person's choice to open or close the details. Undefined before the first choice. Without a choice, a tool call
   * is open while it runs.
   */
  const [chosen, setChosen] = useState<boolean>();
  const open = chosen ?? (tone === 'running' && run !== undefined);
  return (
    <details open={open}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setChosen(!open);
        }}
      >
        <span class="call-title">{isolateRightToLeft(visibleLine(title))}</span>{' '}
        <span class={`badge ${tone}`}>{word}</span>{' '}
        {run?.end !== undefined && (
          <small class="quiet">{exactDurationText(run.end.at - run.startedAt)}</small>
        )}{' '}
        <StoryStepTime at={at} />
      </summary>
      {open && <CallDetails call={call} />}
    </details>
  );
}

function CallDetails({
  call: { tool, source, verdict, input, decisions, runs, files },
}: {
  call: StoryCall;
}) {
  return (
    <>
      <small class="quiet">{visibleLine(joinTexts(' · ', [tool, source, verdict]))}</small>
      {Object.entries(input).map(([name, value]) => (
        <Field key={name} name={name} value={value} />
      ))}
      {decisions.map((decision) => (
        <Decision key={decision.seq} decision={decision} />
      ))}
      {runs.map((each) => (
        <Run key={each.toolId} run={each} />
      ))}
      {files.length > 0 && <ChangedFiles label="Changed files" files={files} />}
    </>
  );
}

/** The maximum length of a value in one line. A longer value has a separate box. */
const MAX_INLINE_CHARS = 60;

function Field({ name, value }: { name: string; value: string }) {
  const isShort = value.length <= MAX_INLINE_CHARS && !value.includes('\n');
  return (
    <div class="field">
      <small class="quiet">{visibleLine(name)}</small>{' '}
      {isShort ? (
        <code>{isolateRightToLeft(visibleLine(value))}</code>
      ) : (
        <pre>{isolateRightToLeft(visibleText(value))}</pre>
      )}
    </div>
  );
}

const SCOPES: Readonly<Record<string, string>> = {
  tool: ', also for later calls of this tool',
  server: ', also for later calls of this source of tools',
  always: ', also for all later calls',
};

function Decision({
  decision: { decision, scope, by, channel, at, reason, answer, passkey },
}: {
  decision: StoryCall['decisions'][number];
}) {
  return (
    <p class="decision">
      {capitalizedDecidedByText({ decision, by, channel })}
      {SCOPES[scope] ?? ''}
      {passkey !== undefined && ` with the passkey "${visibleLine(passkey)}"`}, <StoryStepTime at={at} />
      {reason !== '' && <>. Reason: {visibleText(reason)}</>}
      {answer !== null && <>. Answer: {visibleText(answer)}</>}
    </p>
  );
}

function Run({ run: { startedAt, output, end } }: { run: StoryToolExecution }) {
  return (
    <>
      <p class="quiet ran">
        Started <StoryStepTime at={startedAt} />
        {end !== undefined && <>, ended after {exactDurationText(end.at - startedAt)}</>}
      </p>
      {output !== '' && end === undefined && <pre aria-label="Live output">{visibleText(output)}</pre>}
      {end !== undefined && (
        <>
          <p class="ran">{visibleText(end.summary)}</p>
          {(end.result || output) !== '' && (
            <pre aria-label="Result">{visibleText(end.result || output)}</pre>
          )}
        </>
      )}
    </>
  );
}
