import { useBlocker } from '@tanstack/react-router';
import { Confirm } from './confirm.tsx';

/** Asks before a form with changes is left; the browser asks before the tab is closed. */
export const Unsaved = ({ isDirty }: { readonly isDirty: () => boolean }) => {
  const { status, proceed, reset } = useBlocker({
    // A session that ended leads to its page without a question.
    shouldBlockFn: ({ next }) => next.pathname !== '/sign-in' && isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <Confirm
      opened={status === 'blocked'}
      title="Leave without saving?"
      text="Your changes are not saved."
      action="Discard the changes"
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    />
  );
};
