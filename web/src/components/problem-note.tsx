import { Alert, Button, Group, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { isTemporary, problemOf } from '../api/problem.ts';

/** The API's error message, with a retry button where one helps. */
export const ProblemNote = ({
  error,
  onRetry,
  title = 'Something went wrong',
  messages = {},
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  readonly title?: string;
  /** Messages by error code, where the API's are meant for programmers. */
  readonly messages?: Readonly<Record<string, string>>;
}) => {
  const { code, message, requestId } = problemOf(error);
  const isNetwork = code === 'NETWORK';
  // Shown for bug reports, where the user did not cause the error.
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
          ? 'Check your network connection. The figures shown may be out of date.'
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
