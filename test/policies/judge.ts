import { z } from 'zod';
import { type App, definitions } from '../../local/host/template/definitions.ts';
import type { Call, Decision } from './calls.ts';

const oneOrMore = z.union([z.array(z.string()), z.string().transform((value) => [value])]);

/** A pattern of IAM. Brackets and dots stand for themselves. */
const isLike = (value: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '[^]*')
      .replaceAll('?', '[^]')}$`,
    'u',
  ).test(value);

/** Whether a condition key's values are as a condition wants them. A condition of another kind cannot be parsed. */
const operators = {
  StringEquals: (values, wanted) => values.length > 0 && values.every((value) => wanted.includes(value)),
  'ForAllValues:StringLike': (values, wanted) =>
    values.every((value) => wanted.some((pattern) => isLike(value, pattern))),
  Null: (values, [wanted]) => (values.length === 0) === (wanted === 'true'),
} as const satisfies Record<string, (values: readonly string[], wanted: readonly string[]) => boolean>;

const statementSchema = z.strictObject({
  Effect: z.literal('Allow'),
  Action: oneOrMore,
  Resource: oneOrMore,
  Condition: z
    .partialRecord(z.enum(['StringEquals', 'ForAllValues:StringLike', 'Null']), z.record(z.string(), oneOrMore))
    .default({}),
});
type Statement = z.infer<typeof statementSchema>;

const policySchema = z.object({
  PolicyDocument: z.object({ Statement: z.array(statementSchema) }),
  Roles: z.array(z.string()),
});
const functionSchema = z.object({ Role: z.string() });
const taskSchema = z.object({ TaskRoleArn: z.string(), ExecutionRoleArn: z.string() });

const allows = ({ Condition }: Statement, { context }: Decision): boolean =>
  Object.entries(Condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) =>
      operators[operator as keyof typeof operators](context[key] ?? [], wanted),
    ),
  );

/** `data-TableCD117FA1` without the hash that CDK adds, and an ARN without its service, region and account. */
const short = (name: string): string =>
  name.replace(/^arn:aws:[^:]*:[^:]*:[^:]*:/, '').replace(/(?<=[a-z])[0-9A-F]{8}(?=$|\/|-)/gi, '');

/** The caller that starts tasks of a definition: pulls the image, and writes the log. */
export const starterOf = (taskDefinition: string): string => `${taskDefinition} starter`;

/** The policies of every function, and of the tasks of containers with what starts them, as the templates have them. */
export const policiesOf = (app: App) => {
  const policies = definitions(app, policySchema, 'AWS::IAM::Policy').map(({ properties }) => properties);
  const statementsOf = (roleArn: string): Statement[] =>
    policies
      .filter(({ Roles }) => Roles.includes(roleArn.replace(/^.*:/, '')))
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  const roles = [
    ...definitions(app, functionSchema, 'AWS::Lambda::Function').map(
      ({ ref, properties }) => [ref, properties.Role] as const,
    ),
    ...definitions(app, taskSchema, 'AWS::ECS::TaskDefinition').flatMap(
      ({ ref, properties }) =>
        [
          [ref, properties.TaskRoleArn],
          [starterOf(ref), properties.ExecutionRoleArn],
        ] as const,
    ),
  ];
  const callers = new Map(roles.map(([caller, role]) => [caller, statementsOf(role)]));
  const resources = new Set(
    [...callers.values()].flatMap((statements) => statements.flatMap(({ Resource }) => Resource)),
  );
  /** The local stack has Stripe's secrets under names of its own: see local/stripe/for-stack.ts. */
  const onAws = (resource: string): string => {
    const [, name] = /:secret:local\/(stripe-[a-z-]+)-[0-9a-f]{8}-/.exec(resource) ?? [];
    if (name === undefined) return resource;
    const like = `:secret:billing-${name.replaceAll('-', '')}`;
    return [...resources].find((each) => each.toLowerCase().includes(like)) ?? resource;
  };
  const grant = (caller: string, action: string, resource: string) => `${short(caller)} ${action} ${short(resource)}`;
  /** The grant that allows this; undefined if none does. */
  const grantOf = (caller: string, decision: Decision): string | undefined => {
    const { action } = decision;
    const resource = onAws(decision.resource);
    for (const statement of callers.get(caller) ?? []) {
      const pattern = statement.Resource.find((each) => isLike(resource, each));
      if (pattern !== undefined && statement.Action.includes(action) && allows(statement, decision))
        return grant(caller, action, pattern);
    }
    return undefined;
  };
  return {
    /** Every action on every resource that a caller may use: `usage-Sweep dynamodb:Query table/data-Table`. */
    grants: [...callers].flatMap(([caller, statements]) =>
      statements.flatMap(({ Action, Resource }) =>
        Action.flatMap((action) => Resource.map((resource) => grant(caller, action, resource))),
      ),
    ),
    /** The grants that the calls used, and one line for each decision that no policy allows. */
    judge: (calls: readonly Call[]) => {
      const used = new Set<string>();
      const refused = new Set<string>();
      for (const { caller, operation, decisions } of calls) {
        for (const decision of decisions) {
          const found = grantOf(caller, decision);
          const { action, resource, context } = decision;
          if (found !== undefined) used.add(found);
          else refused.add(`${caller}: ${operation}, ${action} of ${resource} with ${JSON.stringify(context)}`);
        }
      }
      return { used, refused: [...refused] };
    },
  };
};
