import { Button, Group, Modal, Stack, Text } from '@mantine/core';

export interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
  readonly onConfirm: () => void;
}

/** Asks before a change that cannot be taken back. Closed without a question. */
export const Confirm = ({
  question,
  onClose,
}: {
  readonly question: Question | undefined;
  readonly onClose: () => void;
}) => (
  <Modal opened={question !== undefined} onClose={onClose} title={question?.title}>
    {question && (
      <Stack>
        <Text size="sm">{question.text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            color="red"
            onClick={() => {
              question.onConfirm();
              onClose();
            }}
          >
            {question.action}
          </Button>
        </Group>
      </Stack>
    )}
  </Modal>
);
