import { createHash, randomUUID } from 'node:crypto';
import { authorize } from '../../../fixtures/sign-on-provider.ts';
import { unusedCodes } from '../../../fixtures/totp.ts';
import { type ApiResponse, PASSWORD } from '../../dashboard/over-http/stack.ts';
import type { Random } from '../random.ts';
import {
  addToken,
  become,
  type Company,
  DEFAULT_PROJECT,
  isSettled,
  joinBy,
  ownerOf,
  type Person,
  PROVIDER,
  type Principal,
  principal,
} from './company.ts';
import {
  type ApiOperation,
  allOperations,
  mayGive,
  projectRoles,
  roles,
  seesProject,
  whyNot,
  whyNotKey,
} from './model.ts';

/** Something that somebody tries to change. */
export interface Attempt {
  readonly move: string;
  readonly by: Principal;
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  /** The second factor's code is added to the body. */
  readonly sendsCode?: boolean;
  /** Each rule that refuses it: none for what is permitted. */
  readonly refusals: readonly string[];
  /** It leaves an entry in the audit log. */
  readonly isAudited?: boolean;
  /** What the model has to know after it. */
  readonly done?: (body: ApiResponse['body']) => unknown;
}

/** Statuses of what a rule refuses; 403 where none is named. */
export const refusedBy: Readonly<Record<string, readonly number[]>> = {
  gone: [401],
  password: [401],
  code: [401],
  'nothing sent': [400],
  'nothing sent, single sign-on': [400],
  unseen: [404],
  'one owner': [409],
};

/** Something that the company does as a whole. @returns what is wrong */
export type Event = () => Promise<string | undefined>;

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
const operations = new Map<string, ApiOperation>();
export const operationOf = (method: string, path: string): ApiOperation => {
  const [plain = ''] = path.split('?');
  const known = operations.get(`${method} ${plain}`);
  if (known) return known;
  const found = allOperations.find((each) => each.method === method && pattern(each.path).test(plain)) as ApiOperation;
  operations.set(`${method} ${plain}`, found);
  return found;
};

export const tokenRoles = roles.filter((role) => !['owner', 'developer'].includes(role));
const givable = roles.filter((role) => role !== 'owner');
/** The account stays about as large as it was at first. */
const [FEWEST_PEOPLE, MOST_PEOPLE, FEWEST_TOKENS, MOST_TOKENS, MOST_PROJECTS, FEWEST_KEYS, MOST_JOINED] = [
  8, 11, 5, 8, 6, 3, 26,
];
/** A second factor has a new code so often. */
const CODE_MS = 31_000;

const isPerson = ({ isToken, rights }: Principal) => !isToken && rights !== undefined;
const hasPassword = (who: Principal): who is Person => who.email !== undefined;
const isHere = ({ rights }: Principal) => rights !== undefined;

/** Everything that somebody could try now. A change of rights holds at once for what changes something. */
export const attempts = (company: Company, random: Random): Attempt[] => {
  const { all, projects, keys } = company;
  // Those whose rights have just changed are few, so that there are reads to judge.
  const isCalm = all.filter(isSettled).length > (2 * all.length) / 3;
  const people = all.filter(isPerson);
  const tokens = all.filter((each) => each.isToken && isHere(each));
  const owner = ownerOf(company);
  const found: Attempt[] = [];
  const short = () => randomUUID().slice(0, 8);
  const someProjects = (role: string): readonly string[] | null =>
    projectRoles.includes(role) && random.below(2) === 0 ? [random.pick(projects)] : null;

  const offer = (
    { by, method, path, ...rest }: Omit<Attempt, 'refusals' | 'move'>,
    { when = true, move = `${method} ${operationOf(method, path).path}` }: { when?: boolean; move?: string } = {},
    ...more: (string | false)[]
  ): void => {
    const operation = operationOf(method, path);
    const rules = by.rights === undefined ? ['gone'] : whyNot(by.rights, by.isToken, operation);
    const refusals = [...rules, ...more.filter((each) => each !== false)];
    if (refusals.length > 1 || (refusals.length === 0 && !when)) return;
    found.push({ move, by, method, path, refusals, ...rest });
  };
  const notGivable = ({ rights }: Principal, role: string): string | false =>
    rights !== undefined && !mayGive(rights.role, role) && 'give';
  const ofKey = (by: Principal, key: (typeof keys)[number]): string | false =>
    by.rights !== undefined && (whyNotKey(by.rights, by.userId, key)[0] ?? false);
  const ofProject = ({ rights }: Principal, project: string): string | false =>
    rights !== undefined && !seesProject(rights, project) && 'unseen';

  const isWithin = (own: NonNullable<Principal['rights']>, { role, projects }: NonNullable<Principal['rights']>) =>
    mayGive(own.role, role) && (!own.projects || projects?.every((each) => seesProject(own, each)) === true);
  /** Whoever gets a role, or is removed, may lose the tokens that they made and that may do or see more. */
  const gets = (who: Principal, rights: Principal['rights'], revokes: boolean): void => {
    become(who, rights);
    const lost = tokens.filter((each) => revokes && each.createdBy === who.id && isHere(each));
    for (const token of lost)
      if (rights === undefined || !token.rights || !isWithin(rights, token.rights)) become(token, undefined);
  };

  for (const by of all) {
    const revokes = random.below(2) === 0;
    for (const role of givable) {
      const email = `${randomUUID()}@example.com`;
      offer({ by, method: 'POST', path: '/invitations', body: { email, role } }, {}, notGivable(by, role));
    }
    for (const role of tokenRoles) {
      const limits = someProjects(role);
      const body = { name: `ci ${short()}`, role, projects: limits };
      offer(
        { by, method: 'POST', path: '/tokens', body, done: (made) => addToken(company, made) },
        { when: tokens.length < MOST_TOKENS && tokens.filter(({ rights }) => rights?.role === role).length < 2 },
        notGivable(by, role),
      );
    }
    for (const token of tokens)
      offer(
        { by, method: 'DELETE', path: `/tokens/${token.id}`, done: () => become(token, undefined) },
        { when: tokens.length > FEWEST_TOKENS && token !== by },
      );
    for (const whom of people) {
      if (whom === by || whom.rights === undefined) continue;
      const path = `/members/${whom.id}`;
      const { role: former, projects: limits } = whom.rights;
      const onlyOne = whom === owner && 'one owner';
      for (const role of givable) {
        if (role === former) continue;
        const kept = projectRoles.includes(role) ? limits : undefined;
        const done = () => gets(whom, { role, projects: kept }, revokes);
        const body = { role, revokeTokens: revokes };
        offer({ by, method: 'PATCH', path, body, done }, { when: isCalm }, notGivable(by, role), onlyOne);
      }
      if (whom !== owner) {
        const wanted = limits ? null : projectRoles.includes(former) ? [random.pick(projects)] : null;
        // Revokes by default, too: the role may be a new one.
        const done = () => gets(whom, { role: former, projects: wanted ?? undefined }, true);
        const named = { move: 'PATCH /members/{userId} projects', when: isCalm };
        offer({ by, method: 'PATCH', path, body: { projects: wanted }, done }, named, notGivable(by, former));
      }
      // To take rights away is not to give them: an admin may remove who pays.
      offer(
        {
          by,
          method: 'DELETE',
          path: `${path}?revokeTokens=${revokes}`,
          done: () => gets(whom, undefined, revokes),
        },
        { when: isCalm && people.length > FEWEST_PEOPLE },
        onlyOne,
      );
      if (whom === owner) continue;
      const transferred = () => {
        gets(by, { role: 'admin' }, revokes);
        become(whom, { role: 'owner' });
      };
      offer(
        { by, method: 'POST', path: `${path}/transfer-ownership?revokeTokens=${revokes}`, done: transferred },
        { when: isCalm && hasPassword(whom) },
      );
    }
    offer(
      { by, method: 'POST', path: '/members/leave', done: () => gets(by, undefined, true) },
      { when: isCalm && people.length > FEWEST_PEOPLE },
      by === owner && 'one owner',
    );
    offer({ by, method: 'POST', path: '/views', body: { name: short(), page: 'overview', search: '' } });
    offer(
      {
        by,
        method: 'POST',
        path: '/projects',
        body: { name: short() },
        done: ({ id }) => projects.push(id),
      },
      { when: projects.length < MOST_PROJECTS },
    );
    const used = new Set([
      ...keys.map(({ project }) => project),
      ...all.flatMap(({ rights }) => rights?.projects ?? []),
      ...(company.signOn?.projects ?? []),
    ]);
    for (const project of projects) {
      if (project === DEFAULT_PROJECT) continue;
      offer({ by, method: 'PATCH', path: `/projects/${project}`, body: { name: short() } });
      if (used.has(project)) continue;
      const done = () => projects.splice(projects.indexOf(project), 1);
      offer({ by, method: 'DELETE', path: `/projects/${project}`, done });
    }
    const active = keys.filter(({ isRevoked }) => !isRevoked);
    for (const project of projects) {
      const done = (made: { id: string; ownerUserId: string }) =>
        keys.push({ id: made.id, project, ownerId: made.ownerUserId });
      const body = { name: 'k', project };
      offer({ by, method: 'POST', path: '/keys', body, done }, {}, ofProject(by, project));
      const other = random.pick(people);
      if (other === by || by.rights === undefined) continue;
      const own = whyNotKey(by.rights, by.userId, { id: '', project: '', ownerId: other.id }).length > 0;
      const forOther = {
        by,
        method: 'POST',
        path: '/keys',
        body: { ...body, member: other.id },
        done,
      };
      offer(forOther, { move: 'POST /keys for another' }, ofProject(by, project), own && 'own keys only');
    }
    for (const [index, key] of active.entries()) {
      const path = `/keys/${key.id}`;
      const no = ofKey(by, key);
      offer({ by, method: 'PATCH', path, body: { name: short() } }, {}, no);
      offer({ by, method: 'POST', path: `${path}/rotate`, body: { overlapHours: 1 } }, {}, no);
      const done = () => {
        key.isRevoked = true;
      };
      const when = index > 0 && active.length > FEWEST_KEYS;
      offer({ by, method: 'DELETE', path, done }, { when }, no);
      const project = random.pick(projects.filter((each) => each !== key.project));
      const moved = () => keys.splice(keys.indexOf(key), 1, { ...key, project });
      const named = { move: 'PATCH /keys/{id} project' };
      offer({ by, method: 'PATCH', path, body: { project }, done: moved }, named, no, ofProject(by, project));
    }
    offer({ by, method: 'PATCH', path: '/auth/me', body: { firstName: 'Ada', lastName: short() } });
    // With what proves who somebody is, or fails to: a wrong password, or no code where the second factor is on.
    const hasCode = by.nextCode === undefined || Date.now() > (by.codeAtMs ?? 0) + CODE_MS;
    for (const isRight of hasPassword(by) ? [true, false] : [true])
      for (const sendsCode of by.nextCode ? [true, false] : [false]) {
        if (sendsCode && !(isRight && hasCode)) continue;
        const isGood = isRight && (by.nextCode === undefined || sendsCode);
        const no = by.rights !== undefined && !by.isToken && !isGood && (isRight ? 'code' : 'password');
        const proof = { password: isRight ? PASSWORD : 'wrong horse 1' };
        const when = hasPassword(by);
        const role = random.pick(givable);
        const limits = someProjects(role);
        const joiners = { provider: PROVIDER, defaultRole: role, defaultProjects: limits };
        const done = () => {
          company.signOn = { role, projects: limits ?? undefined };
        };
        offer({ by, method: 'PATCH', path: '/sign-on', body: { ...joiners, ...proof }, sendsCode, done }, { when }, no);
        // It is off already: this changes nothing, and is refused all the same.
        const body = { requiresTotp: false, ...proof };
        offer({ by, method: 'PATCH', path: '/auth/account', body, sendsCode, isAudited: false }, { when }, no);
        const cancel = () => company.api('DELETE', '/account/deletion', { token: by.jwt });
        offer({ by, method: 'POST', path: '/account/deletion', body: proof, sendsCode, done: cancel }, { when }, no);
      }
    // Whoever has a password sends it, however new the session is, and though others sign in without one.
    const rule = hasPassword(by) && (company.signOn ? 'nothing sent, single sign-on' : 'nothing sent');
    offer({ by, method: 'PATCH', path: '/auth/account', body: { requiresTotp: false } }, { when: false }, rule);
    offer({ by, method: 'DELETE', path: '/account/deletion' }, { when: false });
  }
  // Nobody's rights count for the second factor: the password does.
  for (const who of people.filter(hasPassword)) {
    const login = { email: who.email, password: PASSWORD };
    const wrong = { ...login, password: 'wrong horse 1' };
    const add = (path: string, body: object, refusals: string[], rest: Partial<Attempt> = {}) =>
      found.push({ move: `POST ${path}`, by: who, method: 'POST', path, body, refusals, ...rest });
    if (who.nextCode === undefined) {
      add('/auth/totp', wrong, ['password']);
      add('/auth/totp', login, [], {
        isAudited: false,
        done: async ({ secret }) => {
          const next = unusedCodes(secret);
          const response = await company.api('POST', '/auth/totp/confirm', { body: { ...login, totp: await next() } });
          if (response.status !== 204) return;
          Object.assign(who, { nextCode: next, codeAtMs: Date.now() });
          return 'user.totp_enabled';
        },
      });
    } else {
      add('/auth/totp/remove', { ...login, totp: '000000' }, ['code']);
      if (Date.now() < (who.codeAtMs ?? 0) + CODE_MS) continue;
      add('/auth/totp/remove', login, [], {
        sendsCode: true,
        done: () => {
          who.nextCode = undefined;
        },
      });
    }
  }
  return found;
};

/** Somebody new joins by mail, of the kind that there are fewest of. */
export const joinByMail = (company: Company, random: Random): Event | undefined => {
  const people = company.all.filter(isPerson);
  if (people.length >= MOST_PEOPLE || company.joined >= MOST_JOINED) return undefined;
  const kinds = givable.flatMap((role) =>
    projectRoles.includes(role) ? [{ role }, { role, projects: [random.pick(company.projects)] }] : [{ role }],
  );
  const of = (kind: { role: string; projects?: string[] }) =>
    people.filter(({ rights }) => rights?.role === kind.role && !rights.projects === !kind.projects).length;
  const { role, projects } = kinds.sort((a, b) => of(a) - of(b))[0] ?? { role: 'viewer' };
  if (people.length >= FEWEST_PEOPLE && of({ role, ...(projects && { projects }) }) > 0) return undefined;
  return async () => {
    await joinBy(company, role, projects);
    return undefined;
  };
};

/** Somebody new joins by the account's identity provider. @param isNoted whether the audit log has what they did */
export const joinBySignOn = (
  company: Company,
  isNoted: (audits: readonly string[], by: Pick<Principal, 'userId' | 'name'>) => Promise<boolean>,
): Event | undefined => {
  const { api, all, redirectUri, signOn } = company;
  if (signOn === undefined || all.filter(isPerson).length >= MOST_PEOPLE) return undefined;
  return async () => {
    const [email, codeVerifier] = [`${randomUUID()}@example.com`, 'v'.repeat(43)];
    const found = await api('GET', '/auth/sign-on', { query: new URLSearchParams({ email }) });
    if (found.status !== 200) return undefined;
    const at = new URL(found.body.authorizeUrl);
    at.searchParams.set('state', 's');
    at.searchParams.set('code_challenge', createHash('sha256').update(codeVerifier).digest('base64url'));
    at.searchParams.set('code_challenge_method', 'S256');
    const code = (await authorize(at.href, redirectUri, email)).get('code');
    const { status, body } = await api('POST', '/auth/sign-on', { body: { code, codeVerifier } });
    if (status === 429) return undefined;
    if (status !== 200 || !(await isNoted(['member.joined'], { userId: body.userId, name: email })))
      return `POST /auth/sign-on got ${status}, or is not in the audit log`;
    const rights = { role: signOn.role, projects: signOn.projects };
    all.push(principal({ id: body.userId, name: `person ${all.length}`, jwt: body.token, rights }));
    return undefined;
  };
};
