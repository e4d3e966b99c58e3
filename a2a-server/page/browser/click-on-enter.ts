/**
 * Makes Enter in a field of one line click the button with `data-enter` in the same group. A form would do that too.
 * But a host may show the card in a sandbox without `allow-forms`, and then the browser submits no form.
 */
export function clickOnEnter(event: KeyboardEvent): void {
  const { currentTarget, target, key, isComposing } = event;
  if (key !== 'Enter' || isComposing || !(target instanceof HTMLInputElement)) return;
  event.preventDefault();
  if (currentTarget instanceof Element)
    currentTarget.querySelector<HTMLButtonElement>('button[data-enter]')?.click();
}
