/** Every account has it, and keys of 0.1 belong to it. */
export const DEFAULT_PROJECT_ID = 'default';

/** A key, as far as it says what its project is. */
export interface KeyInProject {
  readonly keyId: string;
  readonly projectId: string;
  readonly status: 'active' | 'revoked';
}

/** The keys of a project whose requests can be stopped: those of a revoked key are refused anyway. */
export const activeKeyIds = (keys: readonly KeyInProject[], projectId: string): string[] =>
  keys.filter((key) => key.projectId === projectId && key.status === 'active').map(({ keyId }) => keyId);
