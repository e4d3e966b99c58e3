/** Shows one action without its decision: title, risks, reason and preview. */
import type { ComponentChildren, Ref } from 'preact';
import type { PendingAction } from '../../../../shared/client/index.ts';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { isolateRightToLeft } from '../isolate-right-to-left.tsx';
import { PreviewView } from './preview.tsx';
import { risksOf } from '../risks.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

const REASONS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  question: '',
  'outcome-unknown':
    'It was running when the server stopped, and may have had its effect. Approve runs it again, deny skips it.',
  'content-changed': 'What was shown before has changed since. This is how it is now.',
};

interface ActionViewProps {
  action: PendingAction;
  /** True if the action still waits for a decision. */
  waits: boolean;
  children: ComponentChildren;
  /** True if the person has had the whole action on the screen. Undefined if the person cannot decide here. */
  seen?: boolean;
  head?: Ref<HTMLHeadingElement>;
  /** The id of the heading. */
  headId?: string;
}

export function ActionView({ action, waits, children, seen, head, headId }: ActionViewProps) {
  const { title, tool, workspace, reason, expiresAt } = action;
  const risks = risksOf(action);
  const section = useKeptFocus<HTMLElement>();
  return (
    <section
      ref={section}
      class={risks.some(({ high }) => high) ? 'action high-risk' : 'action'}
      aria-label={visibleLine(title)}
      tabIndex={-1}
      data-seen={seen}
    >
      <h3 ref={head ?? null} id={headId}>
        {/* If the agent asks, the title only repeats the start of the question below. */}
        {reason === 'question' && tool === 'ask-person'
          ? 'The agent asks'
          : isolateRightToLeft(visibleLine(title))}
      </h3>
      {risks.length > 0 && (
        <ul class="risks" aria-label="Risks">
          {risks.map(({ text, high }) => (
            <li key={text} class={high ? 'high' : ''}>
              {text}
            </li>
          ))}
        </ul>
      )}
      <small class="quiet">
        {visibleLine(tool)}
        {workspace === undefined ? '' : <> in {isolateRightToLeft(visibleLine(workspace))}</>}
        {!waits || expiresAt === null ? '' : `, waits until ${new Date(expiresAt).toLocaleString()}`}
      </small>
      {REASONS[reason] !== '' && <p class="warning">{REASONS[reason]}</p>}
      <PreviewView action={action} />
      {children}
    </section>
  );
}
