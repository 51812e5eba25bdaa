import { isKeyDimension, type KeyDimensionName } from './dimensions.ts';

/** A service key, as far as spend is split by what it belongs to. */
export interface KeyOfSpend {
  readonly keyId: string;
  readonly projectId: string;
  readonly ownerUserId?: string | undefined;
}

/** The values of a key's dimensions. A key of no member has none. */
export const keyDimensionsOf = ({
  projectId,
  ownerUserId,
}: KeyOfSpend): Readonly<Record<KeyDimensionName, string | null>> => ({
  project: projectId,
  member: ownerUserId ?? null,
});

/** A filter by keys, or by what they belong to. */
export type KeyFilter = { readonly [N in KeyDimensionName | 'keyId']?: string | undefined };

/** True where only the account's keys say which requests pass a filter. */
export const needsKeys = (filter: KeyFilter | undefined): boolean =>
  Object.entries(filter ?? {}).some(([name, value]) => isKeyDimension(name) && value !== undefined);

/** The keys whose requests pass a filter. An empty member is nobody. */
export const keysIn = <K extends KeyOfSpend>({ keyId, project, member }: KeyFilter, keys: readonly K[]): K[] =>
  keys.filter((key) => {
    const own = keyDimensionsOf(key);
    return (
      (keyId === undefined || key.keyId === keyId) &&
      (project === undefined || own.project === project) &&
      (member === undefined || own.member === (member || null))
    );
  });
