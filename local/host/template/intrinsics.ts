import { LOCAL_REGION } from '../../emulators/cognito.ts';
import { SetupError } from '../../setup-error.ts';
import { type Resource, resourcesOf, type Stack } from './assembly.ts';
import { LOCAL_ACCOUNT, localNames } from './names.ts';

/** A template refers to something that is not there, or uses a function this resolver does not know. */
export class UnresolvableError extends SetupError {
  override readonly name = 'UnresolvableError';
}

/** A value of a stack's template with every intrinsic function replaced by what it stands for locally. */
export type Resolve = (value: unknown, stack: Stack) => unknown;

const NO_VALUE = Symbol('AWS::NoValue');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const list = (value: unknown): unknown[] => {
  if (!Array.isArray(value)) throw new UnresolvableError(`Expected a list, got ${JSON.stringify(value)}.`);
  return value;
};

const text = (value: unknown): string => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new UnresolvableError(`Expected a text, got ${JSON.stringify(value)}.`);
};

const pseudoParameters = (stack: Stack): Readonly<Record<string, unknown>> => ({
  'AWS::Region': LOCAL_REGION,
  'AWS::AccountId': LOCAL_ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': stack.name,
  'AWS::StackId': `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/${stack.name}/local`,
  'AWS::NotificationARNs': [],
  'AWS::NoValue': NO_VALUE,
});

type Intrinsic = (argument: unknown, stack: Stack) => unknown;

/** @param sqsEndpoint part of queue URLs */
export const createResolver = (stacks: readonly Stack[], sqsEndpoint: string): Resolve => {
  const resources = new Map<Stack, Map<string, Resource>>(
    stacks.map((stack) => [stack, new Map(resourcesOf([stack]).map((resource) => [resource.logicalId, resource]))]),
  );
  const names = localNames((value, { stack }) => resolve(value, stack), sqsEndpoint);

  const resourceOf = (logicalId: string, stack: Stack): Resource => {
    const resource = resources.get(stack)?.get(logicalId);
    if (!resource) throw new UnresolvableError(`${stack.name} has no resource ${logicalId}.`);
    return resource;
  };

  const ref = (name: string, stack: Stack): unknown => {
    const pseudo = pseudoParameters(stack);
    if (name in pseudo) return pseudo[name];
    const parameter = stack.template.Parameters[name];
    if (parameter) return parameter.Default ?? '';
    return names.ref(resourceOf(name, stack));
  };

  const getAtt = (argument: unknown, stack: Stack): unknown => {
    const [logicalId, ...attribute] = Array.isArray(argument) ? argument.map(text) : text(argument).split('.');
    return names.attribute(resourceOf(logicalId ?? '', stack), attribute.join('.'));
  };

  const importValue = (argument: unknown, importer: Stack): unknown => {
    const wanted = resolve(argument, importer);
    for (const stack of stacks) {
      for (const { Value, Export } of Object.values(stack.template.Outputs)) {
        if (Export && resolve(Export.Name, stack) === wanted) return resolve(Value, stack);
      }
    }
    throw new UnresolvableError(`No stack exports ${String(wanted)}, which ${importer.name} imports.`);
  };

  const sub = (argument: unknown, stack: Stack): string => {
    const [template, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return text(template).replace(/\$\{(!?)([^}]+)\}/g, (whole, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (isRecord(variables) && name in variables) return text(resolve(variables[name], stack));
      return text(name.includes('.') ? getAtt(name, stack) : ref(name, stack)) || whole;
    });
  };

  const holds = (condition: unknown, stack: Stack): boolean => {
    if (typeof condition === 'string') return holds(stack.template.Conditions[condition], stack);
    if (!isRecord(condition)) throw new UnresolvableError(`${stack.name} has an unknown condition.`);
    const [[name, argument] = []] = Object.entries(condition);
    if (name === 'Condition') return holds(argument, stack);
    if (name === 'Fn::Not') return !holds(list(argument)[0], stack);
    if (name === 'Fn::And') return list(argument).every((part) => holds(part, stack));
    if (name === 'Fn::Or') return list(argument).some((part) => holds(part, stack));
    if (name === 'Fn::Equals') {
      const [left, right] = list(argument).map((part) => resolve(part, stack));
      return left === right;
    }
    throw new UnresolvableError(`${stack.name} has a condition with ${name}, which is not known here.`);
  };

  const intrinsics: Readonly<Record<string, Intrinsic>> = {
    Ref: (argument, stack) => ref(text(argument), stack),
    'Fn::GetAtt': getAtt,
    'Fn::ImportValue': importValue,
    'Fn::Sub': sub,
    'Fn::Join': (argument, stack) => {
      const [separator, parts] = list(argument);
      return list(resolve(parts, stack)).map(text).join(text(separator));
    },
    'Fn::Split': (argument, stack) => {
      const [separator, whole] = list(argument);
      return text(resolve(whole, stack)).split(text(separator));
    },
    'Fn::Select': (argument, stack) => {
      const [index, parts] = list(argument);
      return list(resolve(parts, stack))[Number(resolve(index, stack))];
    },
    'Fn::If': (argument, stack) => {
      const [condition, then, otherwise] = list(argument);
      return resolved(holds(condition, stack) ? then : otherwise, stack);
    },
    'Fn::FindInMap': (argument, stack) => {
      const [map, first, second] = list(argument).map((part) => text(resolve(part, stack)));
      return resolve(stack.template.Mappings[map ?? '']?.[first ?? '']?.[second ?? ''], stack);
    },
    'Fn::Base64': (argument, stack) => Buffer.from(text(resolve(argument, stack))).toString('base64'),
  };

  /** Like `resolve`, but AWS::NoValue stays visible to whatever holds the value. */
  const resolved = (value: unknown, stack: Stack): unknown => {
    if (Array.isArray(value)) return value.map((item) => resolved(item, stack)).filter((item) => item !== NO_VALUE);
    if (!isRecord(value)) return value;
    const entries = Object.entries(value);
    const [[name, argument] = []] = entries;
    if (entries.length === 1 && name !== undefined) {
      const intrinsic = intrinsics[name];
      if (intrinsic) return intrinsic(argument, stack);
      if (name.startsWith('Fn::')) throw new UnresolvableError(`${stack.name} uses ${name}, which is not known here.`);
    }
    return Object.fromEntries(
      entries.map(([key, item]) => [key, resolved(item, stack)]).filter(([, item]) => item !== NO_VALUE),
    );
  };

  const resolve: Resolve = (value, stack) => {
    const result = resolved(value, stack);
    return result === NO_VALUE ? undefined : result;
  };
  return resolve;
};
