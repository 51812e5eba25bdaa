import { Alert, Button, Group, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { isTemporary, problemOf } from '../api/problem.ts';
import { formatAgo } from '../format/time.ts';

/** The API's error message, with a retry button where one helps. */
export const ProblemNote = ({
  error,
  onRetry,
  title = 'Something went wrong',
  messages = {},
  shownSinceMs = 0,
  details = [],
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  readonly title?: string | undefined;
  /** Messages by error code, where the API's are meant for programmers. */
  readonly messages?: Readonly<Record<string, string>> | undefined;
  /** When the figures that stay on the page were loaded, ms since 1970; 0 if there are none. */
  readonly shownSinceMs?: number;
  /** The API's messages on what no field of the page is about. */
  readonly details?: readonly string[];
}) => {
  const { code, message, requestId } = problemOf(error);
  const isNetwork = code === 'NETWORK';
  // Shown for bug reports, where the user did not cause the error.
  const helps = isTemporary(error);
  const quotable = helps ? requestId : undefined;
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      icon={<CircleAlert size={18} />}
      title={isNetwork ? 'No connection to the API' : title}
    >
      <Text size="sm">
        {isNetwork ? 'Check your network connection.' : (messages[code] ?? message)}
        {shownSinceMs > 0 && ` The figures shown are of ${formatAgo(new Date(shownSinceMs).toISOString())}.`}
      </Text>
      {details.map((detail) => (
        <Text key={detail} size="sm">
          {detail}
        </Text>
      ))}
      {((onRetry && helps) || quotable) && (
        <Group gap="sm" mt="xs">
          {onRetry && helps && (
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
