import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './nothing.module.css';

/** A view without anything in it: why that is, and what would change it. */
export const Nothing = ({
  icon: Icon,
  title,
  children,
  action,
}: {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) => (
  <div className={classes['nothing']}>
    <span className={classes['icon']}>
      <Icon size={22} strokeWidth={1.7} aria-hidden />
    </span>
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
);
