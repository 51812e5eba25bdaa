import { describe, expect, it } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { operations } from '../../lambda/dashboard/operations.ts';
import {
  isForTokens,
  type Permission,
  permissions,
  type Role,
  roles,
} from '../../lambda/domain/accounts/permissions.ts';
import { ConflictError } from '../../lambda/domain/errors.ts';
import { httpStack } from '../../lambda/http/http-stack.ts';
import { route } from '../../lambda/http/operation.ts';
import { document } from '../http/described-api.ts';
import { apiEvent, countRequest, membershipOf, silentLogger } from '../http/invoke.ts';

/** O owner, A admin, M member, V viewer, B billing, D developer. Written by hand: the test of the code's own table. */
const expected: Record<Permission, string> = {
  'spend:read': 'OAMVBD',
  'spend:read-all': 'OAMVB',
  'requests:read': 'OAMVD',
  'rules:read': 'OAMVD',
  'rules:write': 'OAM',
  'raises:decide': 'OA',
  'reports:read': 'OAMV',
  'reports:write': 'OAM',
  'keys:read': 'OAMVBD',
  'keys:write': 'OAMD',
  'keys:write-all': 'OA',
  'projects:write': 'OA',
  'dimensions:write': 'OA',
  'prices:write': 'OA',
  'members:read': 'OAMV',
  'members:write': 'OA',
  'tokens:read': 'OA',
  'tokens:write': 'OA',
  'audit:read': 'OA',
  'billing:read': 'OAMVB',
  'billing:write': 'OB',
  'bills:write': 'OAB',
  'account:read': 'OAMVB',
  'account:write': 'OA',
  'protections:write': 'OA',
  'account:delete': 'O',
  'ownership:write': 'O',
  'sign-on:write': 'O',
  'self:write': 'OAMVBD',
};

/** Of somebody who sees a part of the account: all else is about the whole. */
const ofParts = ['spend:read', 'requests:read', 'rules:read', 'rules:write', 'keys:read', 'keys:write', 'self:write'];

const signedIn = operations.filter(({ permission }) => permission !== undefined);
const handler = httpStack(
  operations.map((operation) =>
    route(operation, async () => {
      throw new ConflictError('The operation ran.');
    }),
  ),
  {
    logger: silentLogger(),
    corsOrigins: [],
    membershipOf,
    countRequest,
    tokenOwnerOf: async (role) => ({
      accountId: 'account',
      userId: role,
      name: 'ci',
      role: role as Role,
      tokenId: 'token',
    }),
  },
);

const call = async (operation: (typeof operations)[number], role: Role, tokenId?: string, projects?: string[]) => {
  const { method, path } = operation;
  const event = apiEvent({
    method,
    path: `/api${path.replaceAll(/\{\w+\}/g, 'some-id')}`,
    headers: { authorization: `Bearer ${role}` },
    caller: { accountId: 'account', userId: `${role}${projects}`, role, tokenId, projects },
  });
  const { statusCode, body } = await handler(event, {} as Context);
  const { error } = JSON.parse(String(body));
  // A JSON-RPC error has ours as its data.
  return { status: statusCode, error: { ...error, ...error.data } };
};

describe('every operation with every role', () => {
  it('is tried for all operations that look at the caller', () => {
    expect(signedIn.length).toBeGreaterThan(15);
    expect(signedIn.map(({ id }) => id)).toEqual(
      operations.filter(({ access }) => access === 'authorizer' || access === 'machine').map(({ id }) => id),
    );
  });

  it.each(signedIn.map((operation) => [operation.id, operation] as const))('%s', async (_, operation) => {
    const permission = operation.permission as Permission;
    for (const role of roles) {
      const { status, error } = await call(operation, role);
      const isPermitted = expected[permission].includes(role.charAt(0).toUpperCase());
      // A permitted request without a body is invalid, or it runs.
      expect([role, ...(isPermitted ? ['VALIDATION_ERROR', 'CONFLICT'] : ['FORBIDDEN'])]).toEqual(
        expect.arrayContaining([role, error.code]),
      );
      if (isPermitted) continue;
      expect(status).toBe(403);
      expect(error.message).toContain(permission);
      expect(error.message).toContain(role);
    }
  });

  it('refuses who is limited to projects what is about the whole account', async () => {
    for (const operation of signedIn.filter(({ access }) => access === 'authorizer')) {
      for (const role of ['member', 'viewer', 'developer'] as const) {
        const permission = operation.permission as Permission;
        const isPermitted = ofParts.includes(permission) && expected[permission].includes(role.charAt(0).toUpperCase());
        const { error } = await call(operation, role, undefined, ['project']);
        const code = isPermitted ? expect.not.stringMatching('FORBIDDEN') : 'FORBIDDEN';
        expect([operation.id, role, error.code]).toEqual([operation.id, role, code]);
      }
    }
  });

  it('refuses API tokens what gives a lasting access, whatever their role', async () => {
    const refused = [
      'members:write',
      'tokens:write',
      'protections:write',
      'account:delete',
      'ownership:write',
      'sign-on:write',
      'self:write',
    ];
    expect(permissions.filter((permission) => !isForTokens(permission)).sort()).toEqual(refused.sort());
    for (const operation of signedIn) {
      const { error } = await call(operation, 'owner', 'token');
      const code = refused.includes(operation.permission as string)
        ? 'FORBIDDEN'
        : expect.not.stringMatching('FORBIDDEN');
      expect([operation.id, error.code]).toEqual([operation.id, code]);
    }
  });

  it('names a permission that reads for GET, and documents it', () => {
    for (const { id, method, path, permission } of signedIn) {
      if (method === 'GET') expect([id, permission]).toEqual([id, expect.stringMatching(/:read(-all)?$/)]);
      expect([id, document.paths[path][method.toLowerCase()]['x-permission']]).toEqual([id, permission]);
    }
  });

  it('has a row for each permission', () => {
    expect(Object.keys(expected).sort()).toEqual([...permissions].sort());
  });
});
