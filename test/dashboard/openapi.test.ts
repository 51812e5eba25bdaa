import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { groups, operations } from '../../lambda/dashboard/operations.ts';
import { openApiDocument } from '../../lambda/http/openapi.ts';
import { withRightsMatrix } from '../../ops/rights-matrix.ts';

const document = openApiDocument(operations, groups);

describe('docs/openapi.json', () => {
  it('matches the schemas (npm run openapi writes it)', () => {
    const written = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
    expect(written).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('has its matrix of rights in docs/security.md (npm run openapi writes it)', () => {
    const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
    expect(page).toBe(withRightsMatrix(page));
  });

  it('passes the recommended rules of the linter', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: { 'operation-4xx-response': 'error' },
    });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => `${location[0]?.pointer} ${ruleId}: ${message}`)).toEqual(
      [],
    );
  });

  it('has no pattern with Unicode classes, which Python and validators without the flag u read differently', () => {
    const patterns = new Set<string>();
    JSON.stringify(document, (key, value) => {
      if (key === 'pattern' && typeof value === 'string') patterns.add(value);
      return value;
    });
    expect(patterns.size).toBeGreaterThan(5);
    expect([...patterns].filter((pattern) => /\\[pPk]|\\u\{/.test(pattern))).toEqual([]);
  });

  it('has a type for every member that a body has a name for', () => {
    const untyped = (node: unknown, path: string): string[] => {
      if (typeof node !== 'object' || node === null) return [];
      const properties = Object.entries((node as { properties?: Record<string, object> }).properties ?? {});
      return [
        ...properties
          .filter(([, schema]) => !Object.keys(schema).some((name) => TYPES.has(name)))
          .map(([name]) => path + name),
        ...Object.entries(node).flatMap(([name, value]) => untyped(value, name === 'requestBody' ? `${path} ` : path)),
      ];
    };
    const TYPES = new Set(['type', 'const', 'enum', 'anyOf', 'oneOf', '$ref']);
    expect(Object.entries(document.paths).flatMap(([path, methods]) => untyped(methods, path))).toEqual([]);
    type Change = { readonly requestBody: { readonly content: { readonly 'application/json': { schema: object } } } };
    const schemaOf = (path: string) =>
      (document.paths[path] as { readonly patch: Change }).patch.requestBody.content['application/json'].schema;
    expect(schemaOf('/budgets/{id}')).toMatchObject({
      properties: {
        amount: { type: 'number' },
        block: {
          anyOf: [{ properties: { atPercent: { anyOf: [{ type: 'integer' }, { type: 'null' }] } } }, { type: 'null' }],
        },
      },
    });
    expect(schemaOf('/alert-rules/{id}')).toMatchObject({
      properties: {
        config: {
          anyOf: expect.arrayContaining([
            expect.objectContaining({
              properties: expect.objectContaining({ threshold: expect.anything(), filter: expect.anything() }),
            }),
          ]),
        },
      },
    });
  });

  it('names what several operations respond with, for generated clients', () => {
    const bodies = operations.flatMap(({ path, method, success: { status } }) => {
      if (path.startsWith('/machine')) return [];
      const described = document.paths[path]?.[method.toLowerCase()] as
        | { responses: Record<number, object> }
        | undefined;
      return [[JSON.stringify(described?.responses[status]), `${method} ${path}`] as const];
    });
    const shared = [...Map.groupBy(bodies, ([body]) => body.replace(/"description":"[^"]*",/, ''))];
    expect(shared.filter(([body, same]) => body.length > 900 && same.length > 1).map(([, same]) => same)).toEqual([]);
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(['PriceTerms', 'KeyWithSecret']));
  });

  it('names API tokens as credentials only where an operation takes them', () => {
    const { post } = document.paths['/auth/change-password'] as Record<string, { security: object[] }>;
    expect(post?.security).toEqual([{ token: [] }]);
    const { get } = document.paths['/keys'] as Record<string, { security: object[] }>;
    expect(get?.security).toEqual([{ token: [] }, { clientCredentials: [] }]);
  });

  it('has an example of every error response', () => {
    for (const [name, response] of Object.entries(document.components.responses)) {
      if (Number.parseInt(name, 10) < 400) continue;
      const { examples } = (response as { content: { 'application/json': { examples: object } } }).content[
        'application/json'
      ];
      expect([name, Object.keys(examples)]).toEqual([name, name.split('-').slice(1)]);
    }
  });
});
