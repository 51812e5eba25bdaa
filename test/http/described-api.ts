import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Schema } from '../dashboard/over-http/schema-arbitrary.ts';

/** Another test compares it with the operations. */
export const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'));
// Compiled anew for each file of tests: as fast as can be, for few values each.
const fastToCompile = { inlineRefs: false, code: { optimize: false } };
const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false, ...fastToCompile });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi');

export const resolve = (ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, part) => node[part], document);
const deref = <T>(node: T): T => {
  const { $ref } = node as { $ref?: string };
  return $ref === undefined ? node : resolve($ref);
};

const validators = new Map<string, ReturnType<typeof ajv.compile>>();
/** A validator of a schema in the document. */
export const validator = (schema: Schema) => {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/');
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, validate);
  return validate;
};

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: Schema;
}

/** An operation of the document. */
export interface DescribedOperation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly isOpen: boolean;
  /** An API token is the credential, not a JWT. */
  readonly takesApiToken: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  readonly responses: Record<string, { content?: Record<string, { schema: Schema; examples?: object }> }>;
}

export const described: readonly DescribedOperation[] = Object.entries(
  document.paths as Record<string, Record<string, Record<string, unknown>>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: operation['operationId'] as string,
    method: method.toUpperCase(),
    path,
    isOpen: (operation['security'] as unknown[]).length === 0,
    takesApiToken: (operation['security'] as object[]).some((each) => 'apiToken' in each),
    parameters: (operation['parameters'] ?? []) as Parameter[],
    body: (operation['requestBody'] as { content: Record<string, { schema: Schema }> } | undefined)?.content[
      'application/json'
    ]?.schema,
    responses: operation['responses'] as DescribedOperation['responses'],
  })),
);

const parametersOf = ({ path }: DescribedOperation): number => path.split('{').length;
/** `/values/export.csv` is no `{value}`: fewer parameters first. */
const patterns = described
  .toSorted((a, b) => parametersOf(a) - parametersOf(b))
  .map((operation) => ({
    operation,
    pattern: new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));

/** The operation of a request; undefined if the document has none. @param path below `/api` */
const operationFor = (method: string, path: string): DescribedOperation | undefined =>
  patterns.find(({ operation, pattern }) => operation.method === method && pattern.test(path))?.operation;

interface ReceivedResponse {
  readonly status: number;
  readonly mediaType: string | undefined;
  readonly text: string;
}

/** The mismatch of a response with the document; undefined if there is none. */
export const mismatchOf = (
  { responses }: DescribedOperation,
  { status, mediaType, text }: ReceivedResponse,
): string | undefined => {
  const response = responses[status];
  if (response === undefined) return 'undocumented status';
  const { content } = deref(response);
  if (content === undefined) return text === '' ? undefined : 'an undocumented body';
  const media = content[mediaType ?? ''];
  if (media === undefined) return `undocumented content type ${mediaType}`;
  if (mediaType !== 'application/json') return undefined;
  const body = JSON.parse(text);
  const validate = validator(media.schema);
  if (!validate(body)) return ajv.errorsText(validate.errors);
  return media.examples && !(body.error.code in media.examples) ? 'undocumented code' : undefined;
};

/** @returns the operation's name @throws if the response does not match the document */
export const checkDescribed = (method: string, path: string, response: ReceivedResponse): string | undefined => {
  const operation = operationFor(method, path);
  const mismatch = operation && mismatchOf(operation, response);
  if (mismatch !== undefined)
    throw new Error(`${mismatch}: ${operation?.name} responded with ${response.status} ${response.text.slice(0, 500)}`);
  return operation?.name;
};
