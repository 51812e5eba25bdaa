import { Alert, Button } from '@mantine/core';
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

/** Stands for a part whose file did not come, such as without a network. The page stays as it is. */
const Missing = () => (
  <Alert
    color="red"
    title="A part of this page could not be loaded"
    pos="fixed"
    bottom={16}
    right={16}
    style={{ zIndex: 400 }}
  >
    <Button size="compact-sm" variant="default" onClick={() => location.reload()}>
      Reload
    </Button>
  </Alert>
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
