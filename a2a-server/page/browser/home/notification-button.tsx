/** Switches the browser's notifications on and off. The page never asks for the permission by itself. */
import type { Notifications } from './use-notifications.ts';

export function NotificationButton({ state, toggle }: Notifications) {
  switch (state) {
    case 'unsupported':
      return null;
    case 'blocked':
      return (
        <span class="quiet" title="Allow notifications of this page in the settings of the browser.">
          Notifications are blocked
        </span>
      );
    case 'off':
    case 'on':
      return (
        <button aria-pressed={state === 'on'} onClick={() => void toggle()}>
          {state === 'on' ? 'Notifications are on' : 'Notify me'}
        </button>
      );
  }
}
