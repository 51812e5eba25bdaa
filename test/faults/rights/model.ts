import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/*
 * A model of rights that reads the documentation alone: the table of roles in docs/dashboard-api.md, by the words that it uses, and the
 * operations of docs/openapi.json.
 */

const DOCS = join(import.meta.dirname, '../../../docs');

export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  readonly looksAtRole: boolean;
  /** The permission that its description names. */
  readonly permission: string | undefined;
  readonly hasBody: boolean;
  /** An API token itself is the credential. */
  readonly isForMachines: boolean;
  /** Entries of the audit log that it writes. */
  readonly audits: readonly string[];
}

const operationSchema = z.looseObject({
  requestBody: z.unknown().optional(),
  security: z.array(z.record(z.string(), z.unknown())),
  'x-permission': z.string().optional(),
  'x-audit': z.array(z.string()).default([]),
});
const documentSchema = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) });

/** All operations. */
export const allOperations: readonly ApiOperation[] = Object.entries(
  documentSchema.parse(JSON.parse(readFileSync(join(DOCS, 'openapi.json'), 'utf8'))).paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    looksAtRole: operation['x-permission'] !== undefined,
    permission: operation['x-permission'],
    hasBody: operation.requestBody !== undefined,
    isForMachines: operation.security.some((each) => 'apiToken' in each),
    audits: operation['x-audit'],
  })),
);

/** The operations that look at the caller's role. */
export const apiOperations = allOperations.filter(({ looksAtRole }) => looksAtRole);

/** What the words of the table mean, as paths without `/machine`. */
const subjects: Readonly<Record<string, RegExp>> = {
  'alert rules': /^\/(alert-rules|alerts)\b/,
  // Owners and admins alone give single values more.
  budgets: /^\/budgets\b(?!.*\{value\}$)/,
  pauses: /^\/pauses\b/,
  reports: /^\/reports\b/,
  destinations: /^\/destinations\b/,
  'saved views': /^\/views\b/,
  'decisions on savings': /^\/savings\/decisions\b/,
  'own keys': /^\/keys\b/,
  'API tokens': /^\/tokens\b/,
  'the audit log': /^\/audit\b/,
  requests: /^\/(requests|savings|spend\/what-if)\b/,
  sessions: /^\/sessions\b/,
  limits: /^\/(alert-rules|budgets|own-limits|pauses|raises)\b/,
  alerts: /^\/alerts\b/,
  // A what-if reads requests.
  spend:
    /^\/(spend(?!\/what-if)|metrics|exports|reconciliation|bill-connections|dimensions|prices|price-changes|views|mcp|access-rules\/preview)\b/,
  'names of keys': /^\/(keys|projects|access-rules|auth\/review)\b/,
  paying: /^\/billing\b/,
  deletion: /^\/account\/deletion\b/,
  'transfer of ownership': /^\/members\/\{userId\}\/transfer-ownership$/,
  'single sign-on': /^\/sign-on\b/,
  exports: /^\/exports\b/,
  reconciliation: /^\/(reconciliation|bills|bill-connections)\b/,
  'own prices': /^\/(prices|price-changes)\b/,
  'previews of access rules': /^\/access-rules\/preview$/,
  members: /^\/(members(?!\/leave)|invitations)\b/,
  billing: /^\/billing\b/,
  "the account's settings": /^\/(account|sign-on)\b/,
};

/** They change nothing. */
const isRead = ({ method, path }: ApiOperation): boolean =>
  method === 'GET' || /\/(preview|what-if)$|^\/mcp$/.test(path);
const withoutMachine = (path: string): string => path.replace(/^\/machine/, '');

/** `alert rules, budgets and own keys`. @throws Error on a word that it does not know */
const named = (words: string): RegExp[] =>
  words.split(/, | and /).map((word) => {
    const subject = subjects[word];
    if (subject === undefined) throw new Error(`No meaning of "${word}"`);
    return subject;
  });

type Judge = (operation: ApiOperation) => boolean;
const nothing: Judge = () => false;

/** Everybody's: the own login, asking for more, and how the account stands. */
const OWN_LOGIN =
  /^\/(auth\/(me|review|change-email|change-password|verification-codes|verify-email)|members\/leave|budgets\/\{id\}\/values\/\{value\}\/raises)$/;
const OF_EVERYBODY = /^\/(account|sign-on|billing)\b/;
const everybody: Judge = (operation) =>
  OWN_LOGIN.test(operation.path) || (isRead(operation) && OF_EVERYBODY.test(operation.path));

/** Undefined for a clause that gives no right. @throws Error on words that it does not know */
const judgeOf = (clause: string, judges: ReadonlyMap<string, Judge>): Judge => {
  const [, except] = /^everything(?: but (.*))?$/.exec(clause) ?? [];
  if (clause === 'everything') return () => true;
  if (except !== undefined) {
    const others = named(except);
    return (each) => isRead(each) || !others.some((other) => other.test(each.path));
  }
  const [, verb = '', rest = ''] = /^(read all but|read what a|read|change) (.*)$/.exec(clause) ?? [];
  if (verb === 'read what a') {
    const as = judges.get(rest.replace(/ reads$/, '')) ?? nothing;
    return (each) => isRead(each) && as(each);
  }
  if (clause === 'pay') return ({ path }) => subjects['paying']?.test(path) === true;
  if (clause === "import providers' bills") return ({ path }) => /^\/(bills|bill-connections)\b/.test(path);
  if (['an account has exactly one', 'nothing of others', 'ask for more'].includes(clause)) return nothing;
  const all = named(rest.replace(/, five at most$/, ''));
  const isNamed: Judge = ({ path }) => all.some((each) => each.test(withoutMachine(path)));
  if (verb === 'read all but') return (each) => isRead(each) && !isNamed(each);
  if (verb === 'read') return (each) => isRead(each) && isNamed(each);
  if (verb === 'change') return (each) => !isRead(each) && isNamed(each);
  throw new Error(`No meaning of "${clause}"`);
};

const documentation = readFileSync(join(DOCS, 'dashboard-api.md'), 'utf8');
const table = documentation.split('**Roles.**')[1]?.split('\n\n')[1] ?? '';
const judges = new Map<string, Judge>();
/** The roles that change own keys only, and those that see nothing of others. */
const [ownKeys, ownOnly] = [new Set<string>(), new Set<string>()];
for (const [, role = '', text = ''] of table.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)) {
  const clauses = text.split('; ').map((clause) => judgeOf(clause, judges));
  judges.set(role, (operation) => everybody(operation) || clauses.some((may) => may(operation)));
  if (text.includes('own keys')) ownKeys.add(role);
  if (text.includes('nothing of others')) ownOnly.add(role);
}
export const roles: readonly string[] = [...judges.keys()];
/** Roles that can be limited to projects. */
const flat = documentation.replaceAll(/\s+/g, ' ');
const [, limitable = ''] = /\bA (`.*?) can be limited to projects/.exec(flat) ?? [];
export const projectRoles = roles.filter((role) => limitable.includes(`\`${role}\``));
const [, whole = ''] = /What shows the whole account at once is refused: ([^.]*)\./.exec(flat) ?? [];
const ofWholeAccount = named(whole);

/** `It never changes members, tokens, logins, ownership or what protects the account.` */
const NEVER_FOR_TOKENS = /^\/(members|invitations|tokens|auth|account\/deletion|sign-on|.*\/raises$)\b/;

/** Whoever is limited to projects has their ids. */
export interface Rights {
  readonly role: string;
  readonly projects?: readonly string[] | undefined;
}

/** Each rule by itself that refuses an operation to somebody. */
export const whyNot = ({ role, projects }: Rights, isToken: boolean, operation: ApiOperation): readonly string[] => [
  ...(judges.get(role)?.(operation) === true ? [] : ['role']),
  ...(isToken && !isRead(operation) && NEVER_FOR_TOKENS.test(operation.path) ? ['token'] : []),
  ...((projects !== undefined || ownOnly.has(role)) &&
  ofWholeAccount.some((each) => each.test(withoutMachine(operation.path)))
    ? ['part']
    : []),
];

export const may = (rights: Rights, isToken: boolean, operation: ApiOperation): boolean =>
  whyNot(rights, isToken, operation).length === 0;

/** The permissions that somebody has, as their operations tell. */
export const permissionsOf = (rights: Rights): ReadonlySet<string | undefined> =>
  new Set(apiOperations.filter((each) => may(rights, false, each)).map(({ permission }) => permission));

export interface Key {
  readonly id: string;
  readonly project: string;
  readonly ownerId: string;
}

export const seesProject = ({ projects }: Rights, project: string): boolean => projects?.includes(project) ?? true;

/** Whether somebody sees a key, with what was sent with it. */
export const sees = (rights: Rights, userId: string, { project, ownerId }: Key): boolean =>
  seesProject(rights, project) && (!ownOnly.has(rights.role) || ownerId === userId);

/** The rule that keeps somebody from a key who may change keys. */
export const whyNotKey = (rights: Rights, userId: string, key: Key): readonly string[] => {
  if (!sees(rights, userId, key)) return ['unseen'];
  return ownKeys.has(rights.role) && key.ownerId !== userId ? ['not own'] : [];
};

/** What each role may give: nobody gives a role that may do more than their own. */
const given = new Map(
  roles.map((own) => [
    own,
    roles.filter((role) =>
      apiOperations.every((each) => !may({ role }, false, each) || may({ role: own }, false, each)),
    ),
  ]),
);
export const mayGive = (own: string, role: string): boolean => given.get(own)?.includes(role) === true;
