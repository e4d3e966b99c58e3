/**
 * Shows a browser notification when a task begins to wait. Only a press of the button asks the browser for permission.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { GroupedTask } from '../../../../shared/protocol/task-groups.ts';
import { openTask } from '../address.ts';
import { taskNotifications, type BrowserTaskNotification } from './task-notifications.ts';

const SETTING = 'notifications';

/**
 * `unsupported`: the browser, or a page without HTTPS, has no notifications. `blocked`: the person has refused them.
 */
type NotificationState = 'unsupported' | 'blocked' | 'off' | 'on';

export interface Notifications {
  state: NotificationState;
  toggle: () => Promise<void>;
}

/** @param waiting undefined before the first answer of the server */
export function useNotifications(waiting: readonly GroupedTask[] | undefined): Notifications {
  const [state, setState] = useState(currentState());
  const known = useRef<ReadonlySet<string> | null>(null);

  useEffect(() => {
    if (waiting === undefined) return;
    const found = taskNotifications(waiting);
    const before = known.current;
    known.current = new Set(found.map(({ key }) => key));
    // The person sees the first list, so its questions are not new.
    if (before === null || state !== 'on' || document.hasFocus()) return;
    for (const fresh of found.filter(({ key }) => !before.has(key))) notify(fresh);
  }, [waiting, state]);

  const toggle = async (): Promise<void> => {
    if (state === 'on') localStorage.removeItem(SETTING);
    else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(SETTING, 'on');
    setState(currentState());
  };
  return { state, toggle };
}

function currentState(): NotificationState {
  if (!('Notification' in window) || !window.isSecureContext) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(SETTING) !== null ? 'on' : 'off';
}

function notify({ taskId, key, title, body }: BrowserTaskNotification): void {
  try {
    const notification = new Notification(title, { body, tag: key });
    notification.addEventListener('click', () => {
      window.focus();
      openTask(taskId);
      notification.close();
    });
  } catch {
    // Chrome on Android throws here, because it shows only the notifications of a service worker. The title of the page
    // still shows the number of waiting actions.
  }
}
