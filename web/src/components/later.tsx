import { Affix, Alert, Button, Text } from '@mantine/core';
import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { reachServer, type Unreachable } from '../app.ts';

/** Loads the document again, or says why it cannot. */
export const ReloadButton = () => {
  const [problem, setProblem] = useState('');
  const reload = () =>
    void reachServer().then(
      () => location.reload(),
      ({ message }: Unreachable) => setProblem(message),
    );
  return (
    <>
      {problem && <Text size="sm">{problem}</Text>}
      <Button size="compact-sm" variant="default" onClick={reload}>
        Reload
      </Button>
    </>
  );
};

/** Stands for a part whose file did not come, such as without a network, above all else. The page stays as it is. */
const Missing = () => (
  <Affix position={{ bottom: 16, right: 16 }} zIndex={400}>
    <Alert color="red" title="A part of this page could not be loaded">
      <ReloadButton />
    </Alert>
  </Affix>
);

/** A part of a page that is loaded when it is first shown. */
export const later = <Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  fallback: ReactNode = null,
) => {
  const Part = lazy(() => load().catch(() => ({ default: Missing }))) as unknown as ComponentType<Props>;
  return (props: Props) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  );
};
