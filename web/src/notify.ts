import type { NotificationData } from '@mantine/notifications';
import { useSyncExternalStore } from 'react';
import { detailsOf, problemOf } from './api/problem.ts';

let isWanted = false;
const listeners = new Set<() => void>();

/** The library comes with the first notification: most visits have none. */
const show = async (notification: NotificationData) => {
  isWanted = true;
  for (const listener of listeners) listener();
  const { notifications } = await import('@mantine/notifications');
  notifications.show({ ...notification, closeButtonProps: { 'aria-label': 'Dismiss' } });
};

/** True from the first notification on: then the page needs a place for them. */
export const useHasNotifications = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isWanted,
  );

export const notifyDone = (message: string) => void show({ message, color: 'teal', autoClose: 4000 });

/** Shows that something failed which has no place on the page for it. */
export const notifyFailure = (title: string, message: string | null) =>
  void show({ title, message, color: 'red', autoClose: 8000 });

/** The same for an error of the API. */
export const notifyProblem = (title: string, error: unknown) =>
  notifyFailure(title, [problemOf(error).message, ...detailsOf(error)].join(' '));
