import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

/** A part of a page that is loaded when it is first shown. */
export const later = <Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  fallback: ReactNode = null,
) => {
  const Part = lazy(load) as unknown as ComponentType<Props>;
  return (props: Props) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  );
};
