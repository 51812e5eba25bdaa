import type { Role } from '../accounts/permissions.ts';
import { withoutPath } from '../usage/dialect.ts';

/*
 * An access rule says what keys may call. The gateway checks it on its hot path, so this file imports little.
 */

/** The keys that a rule is for: those that match every member. Without members, all of the account. */
interface AccessScope {
  readonly key?: string | undefined;
  readonly project?: string | undefined;
  /** Role of the member that the key belongs to. */
  readonly role?: Role | undefined;
}

export interface AccessRule {
  readonly id: string;
  readonly name: string;
  readonly scope: AccessScope;
  /** Patterns of provider and model: `openai/gpt-4o*`. Null: everything that is not denied. */
  readonly allowed: readonly string[] | null;
  readonly denied: readonly string[];
  /** The most that one request may cost, in USD. */
  readonly maxRequestUsd: number | null;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

type Patterns = Pick<AccessRule, 'allowed' | 'denied'>;

/** A key, as far as rules choose by it. Keys of earlier versions have no copies of the last two until an account makes its first rule. */
export interface KeyOfAccess {
  readonly keyId: string | null;
  readonly projectId?: string | undefined;
  readonly ownerRole?: Role | undefined;
}

export const concernsKey = ({ scope }: Pick<AccessRule, 'scope'>, { keyId, projectId, ownerRole }: KeyOfAccess) =>
  (scope.key === undefined || scope.key === keyId) &&
  (scope.project === undefined || scope.project === projectId) &&
  (scope.role === undefined || scope.role === ownerRole);

/** True where a request costs, or may cost, more than a rule allows for one. 2.01 * 1e9 is less than 2010000000. */
export const isAbovePrice = ({ maxRequestUsd }: Pick<AccessRule, 'maxRequestUsd'>, nanoUsd: number): boolean =>
  maxRequestUsd !== null && nanoUsd > Math.round(maxRequestUsd * 1e9);

/** The parts of patterns that are about the models of a provider. */
const modelsAt = (patterns: readonly string[], provider: string): string[] =>
  patterns.flatMap((pattern) => {
    const slash = pattern.indexOf('/');
    const label = pattern.slice(0, slash);
    return label === '*' || label === provider ? [withoutPath(provider, pattern.slice(slash + 1).toLowerCase())] : [];
  });

/** Says whether a rule lets a provider be called; `by-model` where the model decides. */
export const accessToProvider = (
  { allowed, denied }: Patterns,
  provider: string,
): 'permitted' | 'refused' | 'by-model' => {
  const [allowedModels, deniedModels] = [allowed && modelsAt(allowed, provider), modelsAt(denied, provider)];
  if (deniedModels.includes('*') || allowedModels?.length === 0) return 'refused';
  return deniedModels.length > 0 || allowedModels?.includes('*') === false ? 'by-model' : 'permitted';
};

/** A date, with which providers name a version of a model: `-2024-08-06`, `-20250514`, `@20250514`, `-0613`. */
const VERSION = /^[-@](\d{4}|\d{4}-?\d{2}-?\d{2})$/;

/** True where both names are of one model, one of them perhaps with its version: spend names the model that served a request. */
export const isSameModel = (requested: string, model: string): boolean => {
  const [short, long] = requested.length < model.length ? [requested, model] : [model, requested];
  return short === long || (long.startsWith(short) && VERSION.test(long.slice(short.length)));
};

/** True where one of the models that may serve a request is that of a scope, or the scope has none. */
export const isOfModel = (model: string | undefined, provider: string, models: readonly string[]): boolean =>
  model === undefined || models.some((each) => isSameModel(each, withoutPath(provider, model)));

/** Each `*` of the pattern stands for any characters. Both in lower case. Takes linear time: no regular expression is made of it. */
const matches = (pattern: string, model: string): boolean => {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return isSameModel(model, pattern);
  if (!model.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = model.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return model.length - end.length >= at && model.endsWith(end);
};

/**
 * True where a rule lets every model that may serve a request be called.
 *
 * @param models empty where they are not known: then only a pattern of all models matches
 */
export const permitsModels = ({ allowed, denied }: Patterns, provider: string, models: readonly string[]): boolean => {
  const [allowedModels, deniedModels] = [allowed && modelsAt(allowed, provider), modelsAt(denied, provider)];
  return (models.length === 0 ? [''] : models).every((name) => {
    const model = name.toLowerCase();
    const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, model));
    return (allowedModels === null || isIn(allowedModels)) && !isIn(deniedModels);
  });
};
