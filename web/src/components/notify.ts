import { notifications } from '@mantine/notifications';
import { problemOf } from '../api/problem.ts';

export const notifyDone = (message: string) => notifications.show({ message, color: 'teal', autoClose: 4000 });

/** Shows an error of an action that has no place on the page for it. */
export const notifyProblem = (title: string) => (error: unknown) => {
  notifications.show({ title, message: problemOf(error).message, color: 'red', autoClose: 8000 });
};
