import { Alert, Button, Group, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { problemOf } from '../api/problem.ts';

/** What went wrong, in the API's words, and what can be done about it. */
export const ProblemNote = ({
  error,
  onRetry,
  title = 'This did not work',
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  readonly title?: string;
}) => {
  const { code, message, requestId } = problemOf(error);
  const isNetwork = code === 'NETWORK';
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      icon={<CircleAlert size={18} />}
      title={isNetwork ? 'No connection to the API' : title}
    >
      <Text size="sm">
        {isNetwork ? 'Check the network; the figures that are there stay until it is back.' : message}
      </Text>
      {(onRetry || requestId) && (
        <Group gap="sm" mt="xs">
          {onRetry && (
            <Button size="compact-sm" variant="default" onClick={onRetry}>
              Try again
            </Button>
          )}
          {requestId && <span className="dim small mono">Request {requestId}</span>}
        </Group>
      )}
    </Alert>
  );
};
