import { Modal, Skeleton } from '@mantine/core';
import { Pause as PauseIcon } from 'lucide-react';
import { DialogButton } from '../components/buttons.tsx';
import { later } from '../components/later.tsx';
import type { PauseStart } from './pause-form.ts';

const PauseForm = later(() => import('./create-pause.tsx'), <Skeleton height={320} />);

const TITLE = 'Pause requests';

export const PauseDialog = (props: { readonly start: PauseStart; readonly onClose: () => void }) => (
  <Modal opened onClose={props.onClose} title={TITLE}>
    <PauseForm {...props} />
  </Modal>
);

interface PauseButtonProps {
  readonly start: PauseStart;
  readonly label: string;
  /** A button of a row, without its text. */
  readonly isSmall?: boolean;
}

/** Opens the form of a pause with what the page is about. Nothing for roles that may not pause. */
export const PauseButton = ({ start, label, isSmall = false }: PauseButtonProps) => {
  const shown = isSmall
    ? { icon: PauseIcon, label: 'Pause', 'aria-label': label }
    : { label, size: 'xs', variant: 'default', leftSection: <PauseIcon size={14} aria-hidden /> };
  return (
    <DialogButton needs="rules:write" {...shown} title={TITLE}>
      {(close) => <PauseForm start={start} onClose={close} />}
    </DialogButton>
  );
};
