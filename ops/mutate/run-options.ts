import type { GroupName } from './groups.ts';

export interface RunOptions {
  readonly name: GroupName;
  readonly workers: number;
  readonly static: boolean;
  /** Tries the changes of lines whose number this divides. */
  readonly every: number;
  readonly 'dry-run': boolean;
}

/** Changes of a group. A sample's does not replace it. */
export const reportFile = ({ name, every }: Pick<RunOptions, 'name' | 'every'>): string =>
  `.mutate/${name}${every > 1 ? `-every-${every}` : ''}.json`;
