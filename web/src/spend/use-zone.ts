import { useMe } from '../app.ts';
import { chosenZone } from '../format/reading.ts';

/** Whose days spend has: the zone that the reader chose, or the account's. */
export const useZone = (): string => {
  const { me } = useMe();
  return chosenZone ?? me?.account.timeZone ?? 'UTC';
};
