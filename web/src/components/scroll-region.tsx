import type { ReactNode } from 'react';

/** A part that scrolls by itself: named, and to be reached by keyboard, or its end could not be read without a mouse. */
export const ScrollRegion = ({
  label,
  className,
  children,
}: {
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must take the focus.
  <section className={className} aria-label={label} tabIndex={0}>
    {children}
  </section>
);
