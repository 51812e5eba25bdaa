import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SignOnProvider, startSignOnProvider } from '../../../fixtures/sign-on-provider.ts';
import { buyPlan } from '../../../local/seed/seed.ts';
import {
  callApi,
  joinAccount,
  registerAccount,
  startTestStack,
  type TestStack,
  verifyEmail,
} from '../../dashboard/over-http/stack.ts';
import { type Key, projectRoles, type Rights } from './model.ts';

/** A change of rights holds for reads within this time, one to more rights at once. */
const CACHED_MS = 61_000;
export const PROVIDER = 'Acme';
export const DEFAULT_PROJECT = 'default';
/** Active keys that the plan has, one of which is the account's. */
const KEYS = 5;

export interface Principal {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly isToken: boolean;
  /** A person's token, or the JWT of an API token. */
  readonly jwt: string;
  /** The API token itself. */
  readonly secret?: string;
  /** Who made the API token. */
  readonly createdBy?: string;
  /** Undefined for who has no password, or is a token. */
  readonly email?: string;
  /** Next code of the second factor, where it is on. */
  nextCode?: (() => Promise<string>) | undefined;
  /** When the last code was used: one more is there after half a minute. */
  codeAtMs?: number;
  /** Undefined once it may do nothing. */
  rights: Rights | undefined;
  /** What may still hold for reads, for some time after a change. */
  former: { readonly rights: Rights | undefined; readonly untilMs: number }[];
}

export type Person = Principal & { readonly email: string };

export const principal = (
  facts: Pick<Principal, 'id' | 'name' | 'jwt' | 'rights'> & Partial<Principal>,
): Principal => ({ isToken: false, former: [], userId: facts.id, ...facts });

export const become = (who: Principal, rights: Rights | undefined): void => {
  who.former.push({ rights: who.rights, untilMs: Date.now() + CACHED_MS });
  who.rights = rights;
};

export const isSettled = ({ former }: Principal): boolean => former.every(({ untilMs }) => untilMs < Date.now());

/** Whether all rights that may hold for a read now say the same; undefined where they do not. */
export const agreed = <T extends boolean>(
  { rights, former }: Principal,
  of: (rights: Rights | undefined) => T,
): T | undefined => {
  const now = of(rights);
  return former.every((each) => each.untilMs < Date.now() || of(each.rights) === now) ? now : undefined;
};

/** What makes two principals alike to the model. */
export const kindOf = ({ rights, isToken }: Principal): string =>
  `${isToken ? 'token ' : ''}${rights ? `${rights.role}${rights.projects ? ' of a part' : ''}` : 'gone'}`;

export interface World {
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

/** An account, as the model knows it. */
export interface Company {
  readonly world: World;
  readonly api: ReturnType<typeof callApi>;
  readonly redirectUri: string;
  readonly all: Principal[];
  readonly projects: string[];
  readonly keys: (Key & { isRevoked?: boolean })[];
  signOn: { readonly role: string; readonly projects: readonly string[] | undefined } | undefined;
  /** Members who joined by mail: the API takes only so many in a quarter of an hour. */
  joined: number;
}

export const ownerOf = ({ all }: Pick<Company, 'all'>): Person =>
  all.find(({ rights }) => rights?.role === 'owner') as Person;

export const joinBy = async (company: Company, role: string, projects?: readonly string[]): Promise<Principal> => {
  const { world, all } = company;
  const by = { token: ownerOf(company).jwt };
  const { userId: id, token: jwt, email } = await joinAccount(world.running, by, role, undefined, projects);
  const person = principal({ id, name: `person ${all.length}`, jwt, email, rights: { role, projects } });
  company.joined += 1;
  all.push(person);
  return person;
};

/** Adds an API token that was just made. */
export const addToken = async (
  { api, all }: Company,
  {
    id,
    token: secret,
    name,
    role,
    createdBy,
    projects,
  }: Record<'id' | 'token' | 'name' | 'role' | 'createdBy', string> & {
    readonly projects: readonly string[] | null;
  },
): Promise<void> => {
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization };
  const { status, body } = await api('POST', '/auth/token', { rawBody: 'grant_type=client_credentials', headers });
  if (status !== 200) return;
  const userId = JSON.parse(Buffer.from(body.access_token.split('.')[1] ?? '', 'base64url').toString()).sub;
  const rights = { role, projects: projects ?? undefined };
  all.push(principal({ id, userId, name, jwt: body.access_token, isToken: true, secret, createdBy, rights }));
};

/** An account with somebody of each kind from the start, for each of whom some key or project is out of sight. */
export const openCompany = async (world: World, tokenRoles: readonly string[]): Promise<Company> => {
  const { url } = world.running.stack;
  const api = callApi(url);
  const session = await registerAccount(url);
  await verifyEmail(world.running, session);
  // More keys than the free plan has.
  await buyPlan(url, session.token);
  const { userId: id, token: jwt, email } = session;
  const keyOf = (item: { id: string; project: string; ownerUserId: string }): Key => ({
    id: item.id,
    project: item.project,
    ownerId: item.ownerUserId,
  });
  const company: Company = {
    world,
    api,
    redirectUri: openSignOn(world, jwt),
    all: [principal({ id, name: 'owner', jwt, email, rights: { role: 'owner' } })],
    projects: [DEFAULT_PROJECT],
    keys: (await api('GET', '/keys', { token: jwt })).body.items.map(keyOf),
    signOn: undefined,
    joined: 0,
  };
  const made = async (path: string, body: object, token = jwt) => {
    const response = await api('POST', path, { token, body });
    if (response.status !== 201) throw new Error(`POST ${path} got ${response.status}: ${response.text}`);
    return response.body;
  };
  for (const name of ['first', 'second']) company.projects.push((await made('/projects', { name })).id);
  const [, first = '', second = ''] = company.projects;
  await joinBy(company, 'admin');
  await joinBy(company, 'billing');
  const withKeys = [];
  for (const role of projectRoles) {
    const [whole, part] = [await joinBy(company, role), await joinBy(company, role, [first])];
    if (role !== 'viewer') withKeys.push([whole, second] as const, [part, first] as const);
  }
  for (const [{ jwt: token }, project] of withKeys.slice(0, KEYS - 1))
    company.keys.push(keyOf(await made('/keys', { name: 'k', project }, token)));
  for (const role of tokenRoles)
    for (const projects of projectRoles.includes(role) ? [null, [first]] : [null])
      await addToken(company, await made('/tokens', { name: `ci ${company.all.length}`, role, projects }));
  return company;
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
