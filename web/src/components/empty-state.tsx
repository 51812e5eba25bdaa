import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './empty-state.module.css';

interface EmptyStateProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** Shown in place of an empty view: why it is empty, and what to do. */
export const EmptyState = ({ icon: Icon, title, children, action }: EmptyStateProps) => (
  <div className={classes['empty']}>
    <span className={classes['icon']}>
      <Icon size={22} strokeWidth={1.7} aria-hidden />
    </span>
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
);
