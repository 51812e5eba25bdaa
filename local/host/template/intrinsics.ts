import { LOCAL_REGION } from '../../emulators/cognito.ts';
import { SetupError } from '../../setup-error.ts';
import { type Resource, resourcesOf, type Stack } from './assembly.ts';
import { LOCAL_ACCOUNT, namesOf } from './names.ts';

/** A value of a stack's template with every intrinsic function replaced by what it stands for locally. */
export type Resolve = (value: unknown, stack: Stack) => unknown;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const list = (value: unknown): unknown[] => {
  if (!Array.isArray(value)) throw new SetupError(`Expected a list, got ${JSON.stringify(value)}.`);
  return value;
};

const text = (value: unknown): string => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new SetupError(`Expected a text, got ${JSON.stringify(value)}.`);
};

const pseudoParameters = (stack: Stack): Readonly<Record<string, unknown>> => ({
  'AWS::Region': LOCAL_REGION,
  'AWS::AccountId': LOCAL_ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': stack.name,
  'AWS::StackId': `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/${stack.name}/local`,
});

type Intrinsic = (argument: unknown, stack: Stack) => unknown;

/**
 * @param sqsEndpoint part of queue URLs
 * @throws SetupError where a template refers to something that is not there, or uses a function that is not known here
 */
export const createResolver = (stacks: readonly Stack[], sqsEndpoint: string): Resolve => {
  const resources = new Map<Stack, Map<string, Resource>>(
    stacks.map((stack) => [stack, new Map(resourcesOf([stack]).map((resource) => [resource.logicalId, resource]))]),
  );

  const resourceOf = (logicalId: string, stack: Stack): Resource => {
    const resource = resources.get(stack)?.get(logicalId);
    if (!resource) throw new SetupError(`${stack.name} has no resource ${logicalId}.`);
    return resource;
  };

  const ref = (name: string, stack: Stack): unknown => {
    const pseudo = pseudoParameters(stack);
    if (name in pseudo) return pseudo[name];
    return namesOf(resourceOf(name, stack), sqsEndpoint).ref;
  };

  const getAtt = (argument: unknown, stack: Stack): unknown => {
    const [logicalId, ...attribute] = Array.isArray(argument) ? argument.map(text) : text(argument).split('.');
    const names = namesOf(resourceOf(logicalId ?? '', stack), sqsEndpoint);
    const name = attribute.join('.');
    return names.attributes[name] ?? `${names.ref}.${name}`;
  };

  const importValue = (argument: unknown, importer: Stack): unknown => {
    const wanted = resolve(argument, importer);
    for (const stack of stacks) {
      for (const { Value, Export } of Object.values(stack.template.Outputs)) {
        if (Export && resolve(Export.Name, stack) === wanted) return resolve(Value, stack);
      }
    }
    throw new SetupError(`No stack exports ${String(wanted)}, which ${importer.name} imports.`);
  };

  const sub = (argument: unknown, stack: Stack): string =>
    text(argument).replace(/\$\{([^}]+)\}/g, (_, name: string) =>
      text(name.includes('.') ? getAtt(name, stack) : ref(name, stack)),
    );

  const intrinsics: Readonly<Record<string, Intrinsic>> = {
    Ref: (argument, stack) => ref(text(argument), stack),
    'Fn::GetAtt': getAtt,
    'Fn::ImportValue': importValue,
    'Fn::Sub': sub,
    'Fn::Join': (argument, stack) => {
      const [separator, parts] = list(argument);
      return list(resolve(parts, stack)).map(text).join(text(separator));
    },
  };

  const resolve: Resolve = (value, stack) => {
    if (Array.isArray(value)) return value.map((item) => resolve(item, stack));
    if (!isRecord(value)) return value;
    const entries = Object.entries(value);
    const [[name, argument] = []] = entries;
    if (entries.length === 1 && name !== undefined) {
      const intrinsic = intrinsics[name];
      if (intrinsic) return intrinsic(argument, stack);
      if (name.startsWith('Fn::')) throw new SetupError(`${stack.name} uses ${name}, which is not known here.`);
    }
    return Object.fromEntries(entries.map(([key, item]) => [key, resolve(item, stack)]));
  };
  return resolve;
};
