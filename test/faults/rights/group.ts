import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { authorize, type SignOnProvider, startSignOnProvider } from '../../../fixtures/sign-on-provider.ts';
import { unusedCodes } from '../../../fixtures/totp.ts';
import { buyPlan } from '../../../local/seed/seed.ts';
import {
  type ApiResponse,
  callApi,
  joinAccount,
  PASSWORD,
  registerAccount,
  startTestStack,
  type TestStack,
  verifyEmail,
} from '../../dashboard/over-http/stack.ts';
import { SEED } from '../../seed.ts';
import { type Random, randomFrom } from '../random.ts';
import type { Scale, ScenarioGroup } from '../scenario.ts';
import {
  type ApiOperation,
  allOperations,
  apiOperations,
  type Key,
  may,
  mayChangeKey,
  mayGive,
  projectRoles,
  type Rights,
  roles,
  sees,
  seesProject,
} from './model.ts';

/** A change of rights holds within this time, one to more rights at once. */
const CACHED_MS = 61_000;
const STEPS: Record<Scale, number> = { quick: 6, full: 250 };
/** Operations that each principal calls after a step. */
const OPERATIONS: Record<Scale, number> = { quick: 25, full: 40 };
/** Principals that call at once: more would only start more threads. */
const AT_ONCE = 3;
const PROVIDER = 'Acme';
const DEFAULT_PROJECT = 'default';

interface Principal {
  readonly id: string;
  readonly name: string;
  readonly isToken: boolean;
  /** A person's token, or the JWT of an API token. */
  readonly jwt: string;
  /** The API token itself. */
  readonly secret?: string;
  /** Undefined for who has no password, or is a token. */
  readonly email?: string;
  /** Next code of the second factor, where it is on. */
  nextCode?: (() => Promise<string>) | undefined;
  /** Undefined once it may do nothing. */
  rights: Rights | undefined;
  /** What may still hold, for some time after a change. */
  former: { readonly rights: Rights | undefined; readonly untilMs: number }[];
}

type Person = Principal & { readonly email: string };

const principal = (facts: Pick<Principal, 'id' | 'name' | 'jwt' | 'rights'> & Partial<Principal>): Principal => ({
  isToken: false,
  former: [],
  ...facts,
});

const become = (who: Principal, rights: Rights | undefined): void => {
  who.former.push({ rights: who.rights, untilMs: Date.now() + CACHED_MS });
  who.rights = rights;
};

const isSettled = ({ former }: Principal): boolean => former.every(({ untilMs }) => untilMs < Date.now());

/** Whether all rights that may hold now say the same; undefined where they do not. */
const agreed = <T extends boolean>(
  { rights, former }: Principal,
  of: (rights: Rights | undefined) => T,
): T | undefined => {
  const now = of(rights);
  return former.every((each) => each.untilMs < Date.now() || of(each.rights) === now) ? now : undefined;
};

const credentialFor = ({ jwt, secret }: Principal, { isForMachines }: ApiOperation): string | undefined =>
  isForMachines ? secret : jwt;

/** It would change something, though it is sent without a body and with an id that nothing has. */
const actsAtOnce = ({ method, path, hasBody }: ApiOperation): boolean =>
  method !== 'GET' && !hasBody && !path.includes('{') && path !== '/mcp';

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
const operationOf = (method: string, path: string): ApiOperation => {
  const [, plain = ''] = /^([^?]*)/.exec(path) ?? [];
  return allOperations.find((each) => each.method === method && pattern(each.path).test(plain)) as ApiOperation;
};

interface World {
  readonly running: TestStack;
  readonly signOn: SignOnProvider;
}

/** Opens the provider for the user pool of the stack. */
const openSignOn = ({ running, signOn }: World, token: string): string => {
  const { url, dataDir } = running.stack;
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const { Clients } = JSON.parse(readFileSync(join(dataDir, 'cognito', 'clients.json'), 'utf8'));
  const redirectUri = `${url}/sign-in/callback`;
  signOn.open({
    issuer: claims.iss,
    clientId: claims.aud,
    clientSecret: Clients[claims.aud]?.ClientSecret,
    redirectUri,
    signingKey: readFileSync(join(dataDir, 'cognito-key.pem'), 'utf8'),
  });
  return redirectUri;
};

/** @throws AssertionError with what differs from the model, after the first step that shows it */
export const attack = async (world: World, random: Random, scale: Scale): Promise<string> => {
  const { running } = world;
  const { url } = running.stack;
  const api = callApi(url);
  const session = await registerAccount(url);
  await verifyEmail(running, session);
  // More keys than the free plan has.
  await buyPlan(url, session.token);
  const redirectUri = openSignOn(world, session.token);
  const first = principal({
    id: session.userId,
    name: 'owner',
    jwt: session.token,
    email: session.email,
    rights: { role: 'owner' },
  });
  const all: Principal[] = [first];
  const projects = [DEFAULT_PROJECT];
  const keys: Key[] = (await api('GET', '/keys', { token: first.jwt })).body.items.map(
    ({ id, project, ownerUserId }: { id: string; project: string; ownerUserId: string }) => ({
      id,
      project,
      ownerId: ownerUserId,
    }),
  );
  let signOnRole: string | undefined;
  const differences: string[] = [];
  const seen = { judged: 0, steps: new Map<string, number>() };
  const owner = () => all.find(({ rights }) => rights?.role === 'owner') as Person;

  /** @param isReal the request names what is there, so that 404 says that the caller does not see it */
  const isAllowed = ({ status }: ApiResponse, isReal = false): boolean =>
    status !== 401 && status !== 403 && !(isReal && status === 404);
  const nameOf = ({ name, rights }: Principal) => `${name} (${rights && Object.values(rights).join(': ')})`;

  const judge = async (who: Principal, operation: ApiOperation): Promise<void> => {
    const credential = credentialFor(who, operation);
    if (credential === undefined) return;
    const expected = agreed(who, (rights) => rights !== undefined && may(rights, who.isToken, operation));
    if (expected === undefined || (expected && actsAtOnce(operation))) return;
    const { method, path, hasBody } = operation;
    const target = path.replace('{provider}', 'openai').replaceAll(/\{\w+\}/g, randomUUID());
    const response = await api(method, target, { token: credential, ...(hasBody && { body: {} }) });
    if (response.status === 429) return;
    seen.judged += 1;
    if (isAllowed(response) !== expected)
      differences.push(
        `${nameOf(who)}: ${method} ${path} got ${response.status}, ${expected ? 'though it may' : 'though it may not'}`,
      );
  };

  /** Whether somebody sees the keys and projects that they should, and no others. */
  const judgeSight = async (who: Principal): Promise<void> => {
    if (!isSettled(who) || who.rights === undefined) return;
    const { rights, id } = who;
    const idsOf = ({ body }: ApiResponse) => body.items.map((item: { id: string }) => item.id).sort();
    for (const [path, wanted] of [
      ['/keys', keys.filter((key) => sees(rights, id, key)).map((key) => key.id)],
      ['/projects', projects.filter((project) => seesProject(rights, project))],
    ] as const) {
      const response = await api('GET', path, { token: who.jwt });
      if (response.status === 429) continue;
      seen.judged += 1;
      const listed = response.status === 200 ? idsOf(response) : response.status;
      if (String(listed) !== String([...wanted].sort()))
        differences.push(`${nameOf(who)}: GET ${path} has ${listed}, and should have ${[...wanted].sort()}`);
    }
  };

  const noteOf = async (audits: readonly string[], { id, name }: Pick<Principal, 'id' | 'name'>): Promise<boolean> => {
    const { items } = (await api('GET', '/audit', { token: owner().jwt, query: 'limit=4' })).body;
    return items.some(
      ({ action, actor }: { action: string; actor: { userId: string; name: string } | null }) =>
        audits.includes(action) && (actor?.userId === id || actor?.name === name),
    );
  };

  /**
   * A change by somebody: permitted or not as the model says; what is permitted is in the audit log, with who did it.
   *
   * @param isReal the request names what is there. @param changes the request changes something: else it leaves no entry
   */
  const change = async (
    by: Principal,
    method: string,
    path: string,
    body: object | undefined,
    isPermitted: boolean,
    { isReal = false, changes = true } = {},
  ) => {
    const { audits, looksAtRole } = operationOf(method, path);
    const response = await api(method, path, { ...(looksAtRole && { token: by.jwt }), ...(body && { body }) });
    if (response.status === 429) return undefined;
    seen.judged += 1;
    if (isAllowed(response, isReal) !== isPermitted) {
      differences.push(`${nameOf(by)}: ${method} ${path} ${JSON.stringify(body)} got ${response.status}`);
      return undefined;
    }
    if (!isPermitted || response.status >= 300) return undefined;
    if (changes && audits.length > 0 && !(await noteOf(audits, by)))
      differences.push(`${method} ${path} by ${by.name} is not in the audit log as ${audits}`);
    return response;
  };

  const people = () => all.filter(({ isToken, rights }) => !isToken && rights !== undefined);
  const others = () => people().filter((who) => who !== owner());
  const settled = (of: readonly Principal[]) => of.filter(isSettled);
  const mayUse = ({ rights, isToken }: Principal, method: string, path: string) =>
    rights !== undefined && may(rights, isToken, operationOf(method, path));
  const roleOf = ({ rights }: Principal) => rights?.role ?? '';
  const givable = roles.filter((role) => role !== 'owner');
  /** Some projects, or none: all. */
  const someProjects = (role: string) =>
    projectRoles.includes(role) && random.below(2) === 0 ? [random.pick(projects)] : undefined;

  /** What proves who somebody is, or fails to: a wrong password, or no code where the second factor is on. */
  const prove = async ({ nextCode }: Person): Promise<{ readonly proof: object; readonly isGood: boolean }> => {
    const [password, sendsCode] = [random.below(3) > 0 ? PASSWORD : 'wrong horse 1', random.below(3) > 0];
    const totp = nextCode && sendsCode ? await nextCode() : undefined;
    return {
      proof: { password, ...(totp !== undefined && { totp }) },
      isGood: password === PASSWORD && (nextCode === undefined || totp !== undefined),
    };
  };
  const hasPassword = (who: Principal): who is Person => who.email !== undefined;

  const steps: Record<string, () => Promise<void>> = {
    join: async () => {
      if (people().length > 6) return;
      const role = random.pick(givable);
      const limits = someProjects(role);
      const {
        userId: id,
        token: jwt,
        email,
      } = await joinAccount(running, { token: owner().jwt }, role, undefined, limits);
      all.push(principal({ id, name: `person ${all.length}`, jwt, email, rights: { role, projects: limits } }));
    },
    invite: async () => {
      const [by, role] = [random.pick(settled(people())), random.pick(givable)];
      if (by === undefined) return;
      const isPermitted = mayUse(by, 'POST', '/invitations') && mayGive(roleOf(by), role);
      await change(by, 'POST', '/invitations', { email: `${randomUUID()}@example.com`, role }, isPermitted);
    },
    changeRole: async () => {
      const [by, whom, role] = [random.pick(settled(people())), random.pick(others()), random.pick(givable)];
      if (by === undefined || whom === undefined || by === whom) return;
      const isPermitted = mayUse(by, 'PATCH', '/members/{userId}') && mayGive(roleOf(by), role);
      const body = { role, revokeTokens: false };
      if (!(await change(by, 'PATCH', `/members/${whom.id}`, body, isPermitted))) return;
      become(whom, { role, projects: projectRoles.includes(role) ? whom.rights?.projects : undefined });
    },
    limit: async () => {
      const [by, whom] = [random.pick(settled(people())), random.pick(others())];
      if (by === undefined || whom?.rights === undefined || by === whom) return;
      const limits = someProjects(whom.rights.role);
      const isPermitted = mayUse(by, 'PATCH', '/members/{userId}') && mayGive(roleOf(by), whom.rights.role);
      const changed = await change(by, 'PATCH', `/members/${whom.id}`, { projects: limits ?? null }, isPermitted);
      if (changed) become(whom, { role: whom.rights.role, projects: limits });
    },
    remove: async () => {
      const [by, whom] = [random.pick(settled(people())), random.pick(others())];
      if (by === undefined || whom === undefined || by === whom || others().length < 3) return;
      // To take rights away is not to give them: an admin may remove who pays.
      const isPermitted = mayUse(by, 'DELETE', '/members/{userId}');
      if (!(await change(by, 'DELETE', `/members/${whom.id}?revokeTokens=false`, undefined, isPermitted))) return;
      become(whom, undefined);
    },
    token: async () => {
      const [by, role] = [random.pick(settled(people())), random.pick(givable)];
      if (by === undefined || all.length > 14) return;
      const limits = someProjects(role);
      const isPermitted = mayUse(by, 'POST', '/tokens') && mayGive(roleOf(by), role);
      const asked = { name: `ci ${all.length}`, role, ...(limits && { projects: limits }) };
      const made = (await change(by, 'POST', '/tokens', asked, isPermitted))?.body;
      if (made === undefined) return;
      const authorization = `Basic ${Buffer.from(`${made.id}:${made.token}`).toString('base64')}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization };
      const exchanged = await api('POST', '/auth/token', { rawBody: 'grant_type=client_credentials', headers });
      if (exchanged.status !== 200) return;
      const jwt = exchanged.body.access_token;
      const facts = { isToken: true, secret: made.token, rights: { role, projects: limits } };
      all.push(principal({ id: made.id, name: asked.name, jwt, ...facts }));
    },
    removeToken: async () => {
      const by = random.pick(settled(people()));
      const token = random.pick(all.filter((each) => each.isToken && each.rights !== undefined));
      if (by === undefined || token === undefined) return;
      const isPermitted = mayUse(by, 'DELETE', '/tokens/{id}');
      if (await change(by, 'DELETE', `/tokens/${token.id}`, undefined, isPermitted)) become(token, undefined);
    },
    view: async () => {
      const by = random.pick(settled(people()));
      if (by === undefined) return;
      const view = { name: randomUUID().slice(0, 8), page: 'overview', search: '' };
      await change(by, 'POST', '/views', view, mayUse(by, 'POST', '/views'));
    },
    project: async () => {
      const by = random.pick(settled(people()));
      if (by === undefined || projects.length > 5) return;
      const made = await change(
        by,
        'POST',
        '/projects',
        { name: randomUUID().slice(0, 8) },
        mayUse(by, 'POST', '/projects'),
      );
      if (made) projects.push(made.body.id);
    },
    removeProject: async () => {
      const by = random.pick(settled(people()));
      const used = new Set([
        ...keys.map(({ project }) => project),
        ...all.flatMap(({ rights }) => rights?.projects ?? []),
      ]);
      const project = projects.find((each) => each !== DEFAULT_PROJECT && !used.has(each));
      if (by === undefined || project === undefined) return;
      const isPermitted = mayUse(by, 'DELETE', '/projects/{id}');
      if (await change(by, 'DELETE', `/projects/${project}`, undefined, isPermitted))
        projects.splice(projects.indexOf(project), 1);
    },
    key: async () => {
      const [by, project] = [random.pick(settled(people())), random.pick(projects)];
      if (by?.rights === undefined) return;
      const isPermitted = mayUse(by, 'POST', '/keys') && seesProject(by.rights, project);
      const made = await change(by, 'POST', '/keys', { name: 'k', project }, isPermitted, { isReal: true });
      if (made) keys.push({ id: made.body.id, project, ownerId: by.id });
    },
    changeKey: async () => {
      const [by, key] = [random.pick(settled(all)), random.pick(keys)];
      if (by?.rights === undefined || key === undefined) return;
      const isPermitted = mayUse(by, 'PATCH', '/keys/{id}') && mayChangeKey(by.rights, by.id, key);
      await change(by, 'PATCH', `/keys/${key.id}`, { name: `k ${random.below(1_000)}` }, isPermitted, { isReal: true });
    },
    revokeKey: async () => {
      const [by, key] = [random.pick(settled(all)), random.pick(keys)];
      if (by?.rights === undefined || key === undefined) return;
      const isPermitted = mayUse(by, 'DELETE', '/keys/{id}') && mayChangeKey(by.rights, by.id, key);
      await change(by, 'DELETE', `/keys/${key.id}`, undefined, isPermitted, { isReal: true });
    },
    transfer: async () => {
      const [by, whom] = [random.pick(settled(people())), random.pick(settled(others()))];
      if (by === undefined || whom === undefined || by === whom) return;
      // Only refusals: the owner's sign-in is what the audit log is read with.
      if (by === owner()) return;
      await change(by, 'POST', `/members/${whom.id}/transfer-ownership`, undefined, false);
    },
    signOn: async () => {
      const [by, defaultRole] = [random.pick(settled(people()).filter(hasPassword)), random.pick(givable)];
      if (by === undefined) return;
      const { proof, isGood } = await prove(by);
      const isPermitted = mayUse(by, 'PATCH', '/sign-on') && isGood;
      const body = { provider: PROVIDER, defaultRole, ...proof };
      if (await change(by, 'PATCH', '/sign-on', body, isPermitted)) signOnRole = defaultRole;
    },
    signIn: async () => {
      if (signOnRole === undefined || people().length > 6) return;
      const [email, codeVerifier] = [`${randomUUID()}@example.com`, 'v'.repeat(43)];
      const found = await api('GET', '/auth/sign-on', { query: new URLSearchParams({ email }) });
      if (found.status !== 200) return;
      const at = new URL(found.body.authorizeUrl);
      at.searchParams.set('state', 's');
      at.searchParams.set('code_challenge', createHash('sha256').update(codeVerifier).digest('base64url'));
      at.searchParams.set('code_challenge_method', 'S256');
      const code = (await authorize(at.href, redirectUri, email)).get('code');
      const { status, body } = await api('POST', '/auth/sign-on', { body: { code, codeVerifier } });
      if (status === 429) return;
      if (status !== 200 || !(await noteOf(['member.joined'], { id: body.userId, name: email }))) {
        differences.push(`POST /auth/sign-on got ${status}, or is not in the audit log`);
        return;
      }
      const rights = { role: signOnRole };
      all.push(principal({ id: body.userId, name: `person ${all.length}`, jwt: body.token, rights }));
    },
    secondFactor: async () => {
      const who = random.pick(people().filter(hasPassword));
      if (who === undefined) return;
      const credentials = { email: who.email, password: PASSWORD };
      if (who.nextCode) {
        const isRight = random.below(2) === 0;
        const totp = isRight ? await who.nextCode() : '000000';
        if (await change(who, 'POST', '/auth/totp/remove', { ...credentials, totp }, isRight)) who.nextCode = undefined;
        return;
      }
      const wrong = { ...credentials, password: 'wrong horse 1' };
      await change(who, 'POST', '/auth/totp', wrong, false);
      const begun = await change(who, 'POST', '/auth/totp', credentials, true);
      if (begun === undefined) return;
      const next = unusedCodes(begun.body.secret);
      const confirmation = { ...credentials, totp: await next() };
      if (await change(who, 'POST', '/auth/totp/confirm', confirmation, true)) who.nextCode = next;
    },
    protections: async () => {
      const by = random.pick(settled(people()).filter(hasPassword));
      if (by === undefined) return;
      const { proof, isGood } = await prove(by);
      // That it is off already changes nothing, and is refused to who may not, or does not prove who they are, all the same.
      const isPermitted = mayUse(by, 'PATCH', '/auth/account') && isGood;
      await change(by, 'PATCH', '/auth/account', { requiresTotp: false, ...proof }, isPermitted, { changes: false });
    },
    deletion: async () => {
      const by = random.pick(settled(people()).filter(hasPassword));
      if (by === undefined) return;
      const { proof, isGood } = await prove(by);
      const isPermitted = mayUse(by, 'POST', '/account/deletion') && isGood;
      if (!(await change(by, 'POST', '/account/deletion', proof, isPermitted))) return;
      const other = random.pick(settled(others()));
      if (other) await change(other, 'DELETE', '/account/deletion', undefined, false);
      await change(by, 'DELETE', '/account/deletion', undefined, true);
    },
  };

  for (const name of ['project', 'join', 'join', 'join', 'join', 'token', 'token', 'key']) await steps[name]?.();
  const count = Number(process.env['RIGHTS_STEPS'] ?? STEPS[scale]);
  for (let step = 0; step < count; step++) {
    const name = random.pick(Object.keys(steps));
    seen.steps.set(name, (seen.steps.get(name) ?? 0) + 1);
    await steps[name]?.();
    const chosen = all.map((who) => ({ who, operations: random.shuffled(apiOperations).slice(0, OPERATIONS[scale]) }));
    const callOneAfterTheOther = async (): Promise<void> => {
      for (let next = chosen.pop(); next; next = chosen.pop()) {
        for (const operation of next.operations) if (differences.length === 0) await judge(next.who, operation);
        if (differences.length === 0) await judgeSight(next.who);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, callOneAfterTheOther));
    assert.deepEqual(differences, []);
  }
  return `${seen.judged} calls by ${all.length} principals judged, 0 differences; ${[...seen.steps].map(([name, times]) => `${name} ${times}`).join(', ')}`;
};

/** @param assembly templates and bundles instead of the current ones */
export const openWorld = async (assembly?: string): Promise<World> => {
  const signOn = await startSignOnProvider(PROVIDER);
  const providers = { [PROVIDER]: { domains: ['example.com'], verifiesAddresses: false } };
  const environment = { SIGN_ON_ORIGIN: signOn.origin, SIGN_ON_PROVIDERS: JSON.stringify(providers) };
  return { signOn, running: await startTestStack({ environment, assembly, isWatched: false }) };
};

export const closeWorld = async ({ running, signOn }: World): Promise<void> => {
  await signOn.stop();
  await running.stop();
};

export const rightsGroup: ScenarioGroup<World> = {
  title: 'Rights',
  // Starts the local stack, and people join by mail.
  timeoutMs: 300_000,
  open: () => openWorld(),
  close: closeWorld,
  scenarios: [
    {
      name: 'random changes of members, roles, projects, keys, tokens, sign-on, second factor and deletion by several people',
      run: (world, scale) => attack(world, randomFrom(SEED), scale),
    },
  ],
};
