import { notifications } from '@mantine/notifications';
import { problemOf } from '../api/problem.ts';

const closeButtonProps = { 'aria-label': 'Dismiss' };

export const notifyDone = (message: string) =>
  notifications.show({ message, color: 'teal', autoClose: 4000, closeButtonProps });

/** Shows an error of an action that has no place on the page for it. */
export const notifyProblem = (title: string) => (error: unknown) => {
  notifications.show({ title, message: problemOf(error).message, color: 'red', autoClose: 8000, closeButtonProps });
};
