import { ActionIcon, Button, type ButtonProps, Group, Modal, Stack, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { UseMutationResult } from '@tanstack/react-query';
import type { LucideIcon } from 'lucide-react';
import { type ComponentProps, type ReactNode, useRef } from 'react';
import { type Permission, useMe } from '../app.ts';
import { focusStaysAtList } from './keyboard.ts';

interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
}

export const Cancel = ({ onClick }: { readonly onClick: () => void }) => (
  <Button variant="default" onClick={onClick}>
    Cancel
  </Button>
);

interface DecisionProps {
  /** The label of the button that confirms. */
  readonly action: string;
  readonly isPending?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** The end of a dialog before a change that cannot be taken back: a way out, and the button in red. */
export const Decision = ({ action, isPending = false, onConfirm, onClose }: DecisionProps) => (
  <Group justify="flex-end">
    <Cancel onClick={onClose} />
    <Button color="red" loading={isPending} onClick={onConfirm}>
      {action}
    </Button>
  </Group>
);

interface ConfirmProps extends Question, DecisionProps {
  readonly opened: boolean;
}

/** Asks before a change that cannot be taken back. */
export const Confirm = ({ title, text, action, onConfirm, opened, onClose }: ConfirmProps) => (
  <Modal opened={opened} onClose={onClose} title={title}>
    <Stack>
      <Text size="sm">{text}</Text>
      <Decision
        action={action}
        onConfirm={() => {
          onConfirm();
          onClose();
        }}
        onClose={onClose}
      />
    </Stack>
  </Modal>
);

interface LabelProps extends ButtonProps {
  readonly label: ReactNode;
  readonly 'aria-label'?: string;
  /** The button is for roles with this permission alone. */
  readonly needs?: Permission;
}

const useIsFor = (needs: Permission | undefined): boolean => {
  const { may } = useMe();
  return needs === undefined || may(needs);
};

interface ActButtonProps<Sent> extends LabelProps {
  readonly act: Pick<UseMutationResult<unknown, unknown, Sent>, 'mutate' | 'isPending'>;
  readonly sent: NoInfer<Sent>;
  readonly ask?: Question | undefined;
}

/** A button of a row that sends one request, after a question where one is given. */
export const ActButton = <Sent,>({ label, act, sent, ask, needs, ...button }: ActButtonProps<Sent>) => {
  const [isAsking, { open, close }] = useDisclosure();
  const send = () => act.mutate(sent);
  if (!useIsFor(needs)) return null;
  return (
    <>
      <Button
        ref={focusStaysAtList}
        size="compact-xs"
        variant="subtle"
        color={ask && 'red'}
        loading={act.isPending}
        {...button}
        onClick={ask ? open : send}
      >
        {label}
      </Button>
      {ask && <Confirm {...ask} opened={isAsking} onConfirm={send} onClose={close} />}
    </>
  );
};

interface DialogButtonProps extends Omit<LabelProps, 'children'> {
  readonly title: string;
  readonly isWide?: boolean;
  /** Shown alone, with the label as its tip. */
  readonly icon?: LucideIcon;
  readonly children: (close: () => void) => ReactNode;
}

/** A dialog that may show a secret once. The secret's own button closes it then: Escape or a click outside would lose it. */
export const Dialog = ({ onClose, ...modal }: ComponentProps<typeof Modal>) => {
  const dialog = useRef<HTMLDivElement>(null);
  return <Modal ref={dialog} onClose={() => dialog.current?.querySelector('.secret') ?? onClose()} {...modal} />;
};

export const DialogButton = (props: DialogButtonProps) => {
  const { label, title, isWide = false, icon: Icon, children, needs, ...button } = props;
  const [isOpen, { open, close }] = useDisclosure();
  // A dialog that is open stays, and says why its change is refused: what was typed is in it.
  if (!useIsFor(needs) && !isOpen) return null;
  return (
    <>
      {Icon ? (
        <Tooltip label={label}>
          <ActionIcon ref={focusStaysAtList} aria-label={button['aria-label']} onClick={open}>
            <Icon size={16} />
          </ActionIcon>
        </Tooltip>
      ) : (
        <Button ref={focusStaysAtList} {...button} onClick={open}>
          {label}
        </Button>
      )}
      <Dialog opened={isOpen} onClose={close} title={title} size={isWide ? 'lg' : 'md'}>
        {children(close)}
      </Dialog>
    </>
  );
};
