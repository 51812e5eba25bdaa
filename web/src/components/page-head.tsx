import type { ReactNode } from 'react';
import { Heading } from './heading.tsx';

/** The top of a page: its title, a sentence about it, the way back, and on the right its buttons. */
export const PageHead = ({
  title,
  about,
  back,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly back?: ReactNode;
  readonly children?: ReactNode;
}) => (
  <div className="page-head">
    <div>
      {back}
      <Heading>{title}</Heading>
      {about && <p>{about}</p>}
    </div>
    {children}
  </div>
);
