import type { ReactNode } from 'react';

interface ScrollRegionProps {
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A region that scrolls. It has a name and takes the focus, so that the keyboard can scroll it too. */
export const ScrollRegion = ({ label, className, children }: ScrollRegionProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must take the focus.
  <section className={className} aria-label={label} tabIndex={0}>
    {children}
  </section>
);
