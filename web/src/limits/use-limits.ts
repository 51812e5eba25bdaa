import { useDebouncedValue } from '@mantine/hooks';
import { useApi, useMe } from '../app.ts';
import type { Limit } from './limit-form.ts';

const REFRESH_MS = 60_000;
const TYPING_MS = 400;

/** What a form has once nobody types, and whether it is what it has now. */
export const useTyped = <Value>(value: Value): readonly [Value, boolean] => {
  const text = JSON.stringify(value);
  const [typed] = useDebouncedValue(text, TYPING_MS);
  return [JSON.parse(typed), typed === text];
};

/** Options of queries that are read again each minute, by roles that may read them. Where the role is not known, the API decides. */
const useRefreshing = () => {
  const { may, query } = useMe();
  return { refetchInterval: REFRESH_MS, enabled: may('rules:read') || query.isLoadingError };
};

/** The account's budgets with what they have used. Empty for roles that may not read them. */
export const useBudgets = () => useApi().useQuery('get', '/budgets', {}, useRefreshing());

/** The pauses in force. None for roles that may not read them. */
export const usePauses = () => useApi().useQuery('get', '/pauses', {}, useRefreshing());

/** Whether the user sees a part of the account alone: what limits the whole account is hidden, and holds for that part, too. */
export const useSeesPart = (): boolean => {
  const { me, may } = useMe();
  return me !== undefined && !may('spend:read-all');
};

export const useAccessRules = () =>
  useApi().useQuery('get', '/access-rules', {}, { enabled: useMe().may('keys:read') });

/** Rules and budgets, budgets first, with the state of reading both. Roles that may read neither get the API's refusal. */
export const useLimits = () => {
  const budgets = useBudgets();
  const rules = useApi().useQuery('get', '/alert-rules');
  const failed = budgets.error ? budgets : rules;
  return {
    ...failed,
    data: budgets.data &&
      rules.data && {
        items: [...budgets.data.items, ...rules.data.items],
        unreadable: (budgets.data.unreadable ?? 0) + (rules.data.unreadable ?? 0),
      },
  } as typeof failed & { readonly data: { readonly items: readonly Limit[]; readonly unreadable: number } | undefined };
};
