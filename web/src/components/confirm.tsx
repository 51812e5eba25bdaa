import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';

interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
  readonly onConfirm: () => void;
}

interface ConfirmProps extends Question {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Asks before a change that cannot be taken back. */
export const Confirm = ({ title, text, action, onConfirm, opened, onClose }: ConfirmProps) => (
  <Modal opened={opened} onClose={onClose} title={title}>
    <Stack>
      <Text size="sm">{text}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color="red"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </Button>
      </Group>
    </Stack>
  </Modal>
);

export interface ConfirmButtonProps extends ButtonProps {
  readonly ask: Question;
  readonly 'aria-label'?: string;
}

/** A button that asks first. */
export const ConfirmButton = ({ ask, ...button }: ConfirmButtonProps) => {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button size="compact-xs" variant="subtle" color="red" {...button} onClick={() => setAsking(true)} />
      <Confirm {...ask} opened={isAsking} onClose={() => setAsking(false)} />
    </>
  );
};
