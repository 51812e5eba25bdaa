import { pauseSchema } from '../../../lambda/domain/limits/pauses.ts';
import { choicesOf, problemsIn, required } from '../forms/fields.ts';
import { type ScopeValues, scopeOf, scopeValuesOf } from '../scope/scope.ts';
import { type Filters, firstOfEach } from '../spend/filters.ts';

/** Members of a scope that pauses can be chosen by. */
export const scopeMembers = ['provider', 'model', 'tag', 'key', 'project', 'session', 'client'] as const;

/** Minutes; until somebody ends it where there are none. */
export const durations = choicesOf({
  15: '15 minutes',
  60: 'An hour',
  1440: 'A day',
  '': 'Until somebody resumes it',
});

export interface PauseValues extends ScopeValues {
  readonly name: string;
  readonly minutes: string;
}

/** The first values of a new pause: whose requests it refuses, and why. */
export type PauseStart = Partial<PauseValues>;

/** What a pause of what filters show begins with. One of all requests is rarely meant: where it takes no filter, `key`. */
export const pauseStartOf = (filters: Filters, key: string | null | undefined): PauseStart => {
  const taken = Object.entries(firstOfEach(filters)).filter(([name]) => scopeMembers.some((each) => each === name));
  return taken.length > 0 ? Object.fromEntries(taken) : { ...(key && { key }) };
};

export const emptyPause: PauseValues = { ...scopeValuesOf(undefined), name: '', minutes: '60' };

export const bodyOf = ({ name, minutes, ...values }: PauseValues) => {
  const { dim: _, serviceTier: _tier, ...scope } = scopeOf(values);
  return { name: name.trim(), scope, minutes: minutes === '' ? null : Number(minutes) };
};

/** Problems with the values, by member of the form; `scope` is about all of a scope. */
export const pauseProblems = (values: PauseValues): Record<string, string | null> => {
  const { name, ...pause } = bodyOf(values);
  return {
    ...problemsIn(pauseSchema, pause, ['scope', ...scopeMembers, 'minutes']),
    name: required('A reason')(name),
  };
};
