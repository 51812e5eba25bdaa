import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiResponse } from '../../dashboard/over-http/stack.ts';
import { SEED } from '../../seed.ts';
import { type Random, randomFrom } from '../random.ts';
import type { Scale, ScenarioGroup } from '../scenario.ts';
import {
  agreed,
  closeWorld,
  isSettled,
  kindOf,
  openCompany,
  openWorld,
  ownerOf,
  type Principal,
  type World,
} from './company.ts';
import { type ApiOperation, apiOperations, may, mayGive, permissionsOf, roles, sees, seesProject } from './model.ts';
import { type Attempt, attempts, joinByMail, joinBySignOn, operationOf, refusedBy, tokenRoles } from './moves.ts';

const STEPS: Record<Scale, number> = { quick: 3, full: 150 };
/** Operations that each principal calls after a step. */
const OPERATIONS: Record<Scale, number> = { quick: 15, full: 36 };
/** Attempts of a step that the model refuses, and that it permits: those change somebody's rights, which are uncertain for reads for a minute. */
const [REFUSED, PERMITTED] = [20, 6];
/** Principals that call at once: more would only start more threads. */
const AT_ONCE = 3;
/** Of those whose rights ended, the last ones go on calling. */
const GONE = 3;

const credentialFor = ({ jwt, secret }: Principal, { isForMachines }: ApiOperation): string | undefined =>
  isForMachines ? secret : jwt;

/** It would change something, though it is sent without a body and with an id that nothing has. */
const actsAtOnce = ({ method, path, hasBody }: ApiOperation): boolean =>
  method !== 'GET' && !hasBody && !path.includes('{') && path !== '/mcp';

/** Too many requests, or at the same moment as another: neither permitted nor refused. */
const isTryAgain = (status: number) => status === 429 || status === 503;

const nameOf = (who: Principal) => `${who.name} (${kindOf(who)})`;

/** @throws AssertionError with what differs from the model, after the first step that shows it */
export const attack = async (world: World, random: Random, scale: Scale): Promise<string> => {
  const company = await openCompany(world, tokenRoles);
  const { api, all, projects, keys } = company;
  const differences: string[] = [];
  const counts = { judged: 0, attempts: 0 };
  const uses = new Map<string, number>();
  const usesOf = (label: string) => uses.get(label) ?? 0;
  /** Those of the values that were used least so far, least first. */
  const leastUsed = <T>(values: readonly T[], labelOf: (value: T) => string): T[] =>
    random
      .shuffled(values)
      .map((value) => ({ value, used: usesOf(labelOf(value)) }))
      .sort((a, b) => a.used - b.used)
      .map(({ value }) => value);
  const use = (label: string) => uses.set(label, usesOf(label) + 1);

  const judge = async (who: Principal, operation: ApiOperation): Promise<void> => {
    const credential = credentialFor(who, operation);
    if (credential === undefined) return;
    const mayIt = (rights: Principal['rights']) => rights !== undefined && may(rights, who.isToken, operation);
    const expected = operation.method === 'GET' || operation.isForMachines ? agreed(who, mayIt) : mayIt(who.rights);
    if (expected === undefined || (expected && actsAtOnce(operation))) return;
    const { method, path, hasBody } = operation;
    const target = path.replace('{provider}', 'openai').replaceAll(/\{\w+\}/g, randomUUID());
    const { status } = await api(method, target, { token: credential, ...(hasBody && { body: {} }) });
    if (isTryAgain(status)) return;
    counts.judged += 1;
    if ((status !== 401 && status !== 403) !== expected)
      differences.push(
        `${nameOf(who)}: ${method} ${path} got ${status}, ${expected ? 'though it may' : 'though it may not'}`,
      );
  };

  const listed = ({ body }: ApiResponse, line: (item: ApiResponse['body']) => string): string[] =>
    body.items.map(line).sort();
  const people = () => all.filter(({ isToken, rights }) => !isToken && rights !== undefined);
  const lineOf = (id: string, role = '', limits: readonly string[] | null = null) =>
    `${id} ${role} ${[...(limits ?? [])].sort()}`;

  /** What somebody should see of the account and of themselves, by path. */
  const sightOf = (who: Principal): [string, (response: ApiResponse) => string[], readonly string[]][] => {
    const { rights, userId, isToken } = who;
    if (rights === undefined || !isSettled(who)) return [];
    const ids = (response: ApiResponse) => listed(response, ({ id }) => id);
    const ofKeys = keys.filter((key) => sees(rights, userId, key)).map(({ id }) => id);
    const seen: ReturnType<typeof sightOf> = [
      ['/keys', ids, ofKeys],
      ['/projects', ids, projects.filter((project) => seesProject(rights, project))],
    ];
    if (!isToken) {
      const permissions = permissionsOf(rights);
      const facts = ({ body: { user } }: ApiResponse) => [
        ...user.permissions.filter((each: string) => apiOperations.some(({ permission }) => permission === each)),
        ...user.grantableRoles,
      ];
      const given = roles.filter((role) => mayGive(rights.role, role));
      seen.push(['/auth/me', facts, [...[...permissions].map(String), ...given]]);
    }
    if (who === ownerOf(company)) {
      const memberLine = (item: ApiResponse['body']) => lineOf(item.userId, item.role, item.projects);
      const tokenLine = (item: ApiResponse['body']) => lineOf(item.id, item.role, item.projects);
      const line = ({ id, rights: of }: Principal) => lineOf(id, of?.role, of?.projects);
      const tokens = all.filter((each) => each.isToken && each.rights !== undefined);
      seen.push(['/members', (response) => listed(response, memberLine), people().map(line)]);
      seen.push(['/tokens', (response) => listed(response, tokenLine), tokens.map(line)]);
    }
    return seen;
  };

  const judgeSight = async (who: Principal): Promise<void> => {
    for (const [path, read, wanted] of sightOf(who)) {
      const response = await api('GET', path, { token: who.jwt });
      if (isTryAgain(response.status)) continue;
      counts.judged += 1;
      const has = response.status === 200 ? read(response) : [String(response.status)];
      const [more, less] = [has.filter((each) => !wanted.includes(each)), wanted.filter((each) => !has.includes(each))];
      if (more.length + less.length > 0)
        differences.push(`${nameOf(who)}: GET ${path} has ${more}, and should have ${less}`);
    }
  };

  const entries = new Set<string>();
  /** Whether the audit log has a new entry of somebody. */
  const isNoted = async (
    audits: readonly string[],
    { userId, id, name }: Pick<Principal, 'userId' | 'name'> & Partial<Principal>,
  ): Promise<boolean> => {
    const { items } = (await api('GET', '/audit', { token: ownerOf(company).jwt, query: 'limit=5' })).body;
    const fresh = items.filter((entry: { id: string }) => !entries.has(entry.id));
    for (const entry of fresh) entries.add(entry.id);
    const isTheirs = (actor: { userId: string; name: string } | null) =>
      actor !== null && ([userId, id].includes(actor.userId) || actor.name === name);
    return fresh.some(
      (entry: { action: string; actor: { userId: string; name: string } | null }) =>
        audits.includes(entry.action) && isTheirs(entry.actor),
    );
  };

  const bodyOf = async ({ by, body, sendsCode }: Attempt): Promise<object | undefined> => {
    if (!sendsCode || by.nextCode === undefined) return body;
    by.codeAtMs = Date.now();
    return { ...body, totp: await by.nextCode() };
  };

  /** Permitted or not as the model says; what is permitted is in the audit log, with who did it. */
  const make = async (attempt: Attempt): Promise<void> => {
    const { by, method, path, refusals, isAudited = true, done } = attempt;
    const { audits, looksAtRole } = operationOf(method, path);
    const body = await bodyOf(attempt);
    const { status, ...response } = await api(method, path, {
      ...(looksAtRole && { token: by.jwt }),
      ...(body && { body }),
    });
    if (isTryAgain(status)) return;
    counts.judged += 1;
    counts.attempts += 1;
    const [rule] = refusals;
    // 409: the account has as many as it may.
    const isAsSaid = rule === undefined ? status < 300 || status === 409 : (refusedBy[rule] ?? [403]).includes(status);
    if (!isAsSaid) {
      const why = rule === undefined ? '' : `, refused by: ${rule}`;
      differences.push(`${nameOf(by)}: ${method} ${path} ${JSON.stringify(body)} got ${status}${why}`);
      return;
    }
    if (rule !== undefined || status >= 300) return;
    const noted = await done?.(response.body);
    const wanted = typeof noted === 'string' ? [noted] : audits;
    if ((isAudited || typeof noted === 'string') && wanted.length > 0 && !(await isNoted(wanted, by)))
      differences.push(`${method} ${path} by ${by.name} is not in the audit log as ${wanted}`);
  };

  const labelOf = ({ move, refusals: [rule] }: Attempt) => `${move}: ${rule ?? 'permitted'}`;
  const fineLabelOf = (attempt: Attempt) => `${labelOf(attempt)} by ${kindOf(attempt.by)}`;
  /** Makes an attempt of a kind that was made least so far, by somebody of a kind who made it least. */
  const makeNext = async (isPermitted: boolean): Promise<void> => {
    const possible = attempts(company, random).filter(({ refusals }) => (refusals.length === 0) === isPermitted);
    const [kind] = leastUsed(possible, labelOf);
    if (kind === undefined) return;
    const label = labelOf(kind);
    const [attempt] = leastUsed(
      possible.filter((each) => labelOf(each) === label),
      fineLabelOf,
    );
    if (attempt === undefined) return;
    use(label);
    use(fineLabelOf(attempt));
    await make(attempt);
  };

  /** Everybody looks at the account, and calls some operations. */
  const callAll = async (operations: number): Promise<void> => {
    const chosen = all.map((who) => {
      const label = ({ method, path }: ApiOperation) => `${kindOf(who)}: ${method} ${path}`;
      const least = leastUsed(apiOperations, label).slice(0, operations);
      for (const operation of least) use(label(operation));
      return { who, least };
    });
    const callOneAfterTheOther = async (): Promise<void> => {
      for (let next = chosen.pop(); next; next = chosen.pop()) {
        if (differences.length === 0) await judgeSight(next.who);
        for (const operation of next.least) if (differences.length === 0) await judge(next.who, operation);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, callOneAfterTheOther));
  };

  const step = async (): Promise<void> => {
    // First, so that there is still somebody of each kind.
    await callAll(OPERATIONS[scale]);
    for (let i = 0; i < REFUSED && differences.length === 0; i++) await makeNext(false);
    for (let i = 0; i < PERMITTED && differences.length === 0; i++) await makeNext(true);
    for (const happen of [joinByMail(company, random), joinBySignOn(company, isNoted)])
      differences.push(...[await happen?.()].filter((each) => each !== undefined));
    const gone = all.filter(({ rights }) => rights === undefined);
    for (const each of gone.slice(0, -GONE)) all.splice(all.indexOf(each), 1);
  };

  const count = Number(process.env['RIGHTS_STEPS'] ?? STEPS[scale]);
  for (let done = 0; done <= count; done++) {
    await (done < count ? step() : callAll(0));
    assert.equal(differences.length, 0, `Step ${done + 1}: ${differences.join('; ')}`);
  }
  const kinds = [...uses.keys()].filter((label) => / by /.test(label)).length;
  return `${counts.judged} calls judged, 0 differences; ${counts.attempts} of them attempts to change something, of ${kinds} kinds`;
};

export const rightsGroup: ScenarioGroup<World> = {
  title: 'Rights',
  open: () => openWorld(),
  close: closeWorld,
  scenarios: [
    {
      name: 'random changes of members, roles, projects, keys, tokens, sign-on, second factor and deletion by several people',
      run: (world, scale) => attack(world, randomFrom(SEED), scale),
    },
  ],
};
