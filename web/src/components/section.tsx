import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
}

/** A card with a heading, for one setting or a few that belong together. */
export const Section = ({ title, about, children }: SectionProps) => (
  <section className="card card-pad section" aria-label={title}>
    <div>
      <h2 className="section-title">{title}</h2>
      {about && <p className="dim small">{about}</p>}
    </div>
    <div>{children}</div>
  </section>
);
