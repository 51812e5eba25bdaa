import { Alert, Button, Group, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { isTemporary, problemOf } from '../api/problem.ts';

/** What went wrong, in the API's words, and what can be done about it. */
export const ProblemNote = ({
  error,
  onRetry,
  title = 'This did not work',
  messages = {},
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  readonly title?: string;
  /** Words for some codes, where the API's are for programmers. */
  readonly messages?: Readonly<Record<string, string>>;
}) => {
  const { code, message, requestId } = problemOf(error);
  const isNetwork = code === 'NETWORK';
  // To quote where it is not one's own doing.
  const quotable = isTemporary(error) ? requestId : undefined;
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      icon={<CircleAlert size={18} />}
      title={isNetwork ? 'No connection to the API' : title}
    >
      <Text size="sm">
        {isNetwork
          ? 'Check the network; the figures that are there stay until it is back.'
          : (messages[code] ?? message)}
      </Text>
      {(onRetry || quotable) && (
        <Group gap="sm" mt="xs">
          {onRetry && (
            <Button size="compact-sm" variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {quotable && <span className="dim small mono">Request {quotable}</span>}
        </Group>
      )}
    </Alert>
  );
};
