import type { ReactNode } from 'react';

/** The title of a page, as its heading and in the browser's tab and history. */
export const Heading = ({ children }: { readonly children: string }) => (
  <>
    <title>{`${children} · AI Spend Gateway`}</title>
    <h1>{children}</h1>
  </>
);

interface PageHeadProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly back?: ReactNode;
  readonly children?: ReactNode;
}

/** The top of a page: its title, a sentence about it, the way back, and on the right its buttons. */
export const PageHead = ({ title, about, back, children }: PageHeadProps) => (
  <div className="page-head">
    <div>
      {back}
      <Heading>{title}</Heading>
      {about && <p>{about}</p>}
    </div>
    {children}
  </div>
);
