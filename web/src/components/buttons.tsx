import { ActionIcon, Button, type ButtonProps, Group, Modal, Stack, Text, Tooltip } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { LucideIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';

interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
}

interface ConfirmProps extends Question {
  readonly opened: boolean;
  readonly onConfirm: () => void;
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

interface LabelProps extends ButtonProps {
  readonly label: ReactNode;
  readonly 'aria-label'?: string;
}

interface ActButtonProps<Sent> extends LabelProps {
  readonly act: Pick<UseMutationResult<unknown, unknown, Sent>, 'mutate' | 'isPending'>;
  readonly sent: NoInfer<Sent>;
  readonly ask?: Question | undefined;
}

/** A button of a row that sends one request, after a question where one is given. */
export const ActButton = <Sent,>({ label, act, sent, ask, ...button }: ActButtonProps<Sent>) => {
  const [isAsking, setAsking] = useState(false);
  const send = () => act.mutate(sent);
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        color={ask && 'red'}
        loading={act.isPending}
        {...button}
        onClick={ask ? () => setAsking(true) : send}
      >
        {label}
      </Button>
      {ask && <Confirm {...ask} opened={isAsking} onConfirm={send} onClose={() => setAsking(false)} />}
    </>
  );
};

interface DialogButtonProps extends Omit<LabelProps, 'children'> {
  /** Heads the dialog. */
  readonly title: string;
  readonly isWide?: boolean;
  /** Shown alone, with the label as its tip. */
  readonly icon?: LucideIcon;
  readonly children: (close: () => void) => ReactNode;
}

export const DialogButton = ({ label, title, isWide = false, icon: Icon, children, ...button }: DialogButtonProps) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const open = () => setOpen(true);
  return (
    <>
      {Icon ? (
        <Tooltip label={label}>
          <ActionIcon variant="subtle" color="gray" aria-label={button['aria-label']} onClick={open}>
            <Icon size={16} />
          </ActionIcon>
        </Tooltip>
      ) : (
        <Button {...button} onClick={open}>
          {label}
        </Button>
      )}
      <Modal opened={isOpen} onClose={close} title={title} size={isWide ? 'lg' : 'md'}>
        {children(close)}
      </Modal>
    </>
  );
};
