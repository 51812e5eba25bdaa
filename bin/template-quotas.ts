/** A template of CloudFormation, as far as quotas need it. */
export interface CloudFormationTemplate {
  readonly Resources?: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, unknown>>;
  readonly Parameters?: Readonly<Record<string, unknown>>;
}

interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** An amount of which AWS takes a certain number at most. */
interface Measured {
  /** Where it is: a resource's logical id, or the template. */
  readonly at: string;
  readonly amount: number;
}

interface Quota {
  readonly what: string;
  readonly most: number;
  /** Raised on request. Else it is fixed. */
  readonly canBeRaised?: true;
  readonly source: string;
  readonly measure: (template: CloudFormationTemplate) => readonly Measured[];
}

const WHOLE = 'the template';
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const ofType =
  (type: string, amountOf: (properties: Readonly<Record<string, unknown>>) => number) =>
  ({ Resources = {} }: CloudFormationTemplate): Measured[] =>
    Object.entries(Resources).flatMap(([at, { Type, Properties = {} }]) =>
      Type === type ? [{ at, amount: amountOf(Properties) }] : [],
    );

/** Every member of a name, however deep. */
const membersOf = (value: unknown, name: string): unknown[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([key, member]) => [...(key === name ? [member] : []), ...membersOf(member, name)])
    : [];

const longest = (texts: readonly unknown[]): number => Math.max(0, ...texts.map((text) => String(text).length));
const count = (value: unknown): number => (isObject(value) ? Object.keys(value).length : 0);

/** API Gateway has a resource for each segment of each path: `/budgets/{id}` are two, and the root one. */
const resourcesOfApi = (body: unknown): number => {
  const paths = isObject(body) && isObject(body['paths']) ? Object.keys(body['paths']) : [];
  const segments = paths.flatMap((path) =>
    path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/')),
  );
  return new Set(segments).size;
};

const CLOUDFORMATION = 'https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html';
const WAF = 'https://docs.aws.amazon.com/waf/latest/developerguide/limits.html';
const IAM = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html';
const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html';
const API_GATEWAY = 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html';
const LOAD_BALANCER = 'https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-limits.html';
const EVENTBRIDGE = 'https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html';

/** The quotas that a template can break. Those of an account are checked by the preflight, the others are in docs/deployment.md. */
export const templateQuotas: readonly Quota[] = [
  {
    what: 'bytes of a template',
    most: 1_000_000,
    source: CLOUDFORMATION,
    measure: (template) => [{ at: WHOLE, amount: bytesOf(template) }],
  },
  {
    what: 'resources of a template',
    most: 500,
    source: CLOUDFORMATION,
    measure: ({ Resources }) => [{ at: WHOLE, amount: count(Resources) }],
  },
  {
    what: 'outputs of a template',
    most: 200,
    source: CLOUDFORMATION,
    measure: ({ Outputs }) => [{ at: WHOLE, amount: count(Outputs) }],
  },
  {
    what: 'parameters of a template',
    most: 200,
    source: CLOUDFORMATION,
    measure: ({ Parameters }) => [{ at: WHOLE, amount: count(Parameters) }],
  },
  {
    what: 'characters of a regular expression of the firewall',
    most: 200,
    source: WAF,
    measure: ofType('AWS::WAFv2::WebACL', (properties) => longest(membersOf(properties, 'RegexString'))),
  },
  {
    what: "characters of a policy of a role's own",
    most: 10_240,
    source: IAM,
    // Those of a role are counted together; CDK makes one.
    measure: ofType('AWS::IAM::Policy', ({ PolicyDocument }) => bytesOf(PolicyDocument)),
  },
  {
    what: 'managed policies of a role',
    most: 10,
    canBeRaised: true,
    source: IAM,
    measure: ofType('AWS::IAM::Role', ({ ManagedPolicyArns }) => count(ManagedPolicyArns)),
  },
  {
    what: 'bytes of the environment of a function',
    most: 4_096,
    source: LAMBDA,
    measure: ofType('AWS::Lambda::Function', ({ Environment }) => bytesOf(Environment)),
  },
  {
    what: 'seconds of a function',
    most: 900,
    source: LAMBDA,
    measure: ofType('AWS::Lambda::Function', ({ Timeout }) => Number(Timeout ?? 3)),
  },
  {
    what: 'megabytes of memory of a function, in a new account',
    most: 3_008,
    canBeRaised: true,
    source: LAMBDA,
    measure: ofType('AWS::Lambda::Function', ({ MemorySize }) => Number(MemorySize ?? 128)),
  },
  {
    what: 'resources of an API',
    most: 300,
    canBeRaised: true,
    source: API_GATEWAY,
    measure: ofType('AWS::ApiGateway::RestApi', ({ Body }) => resourcesOfApi(Body)),
  },
  {
    what: 'values in the conditions of a rule of a load balancer',
    most: 5,
    source: LOAD_BALANCER,
    measure: ofType('AWS::ElasticLoadBalancingV2::ListenerRule', ({ Conditions }) =>
      membersOf(Conditions, 'Values').reduce<number>((sum, values) => sum + count(values), 0),
    ),
  },
  {
    what: 'targets of a rule of EventBridge',
    most: 5,
    source: EVENTBRIDGE,
    measure: ofType('AWS::Events::Rule', ({ Targets }) => count(Targets)),
  },
];

/** Says what breaks a quota, one sentence each; empty where nothing does. */
export const brokenQuotas = (template: CloudFormationTemplate): readonly string[] =>
  templateQuotas.flatMap(({ what, most, canBeRaised, source, measure }) =>
    measure(template)
      .filter(({ amount }) => amount > most)
      .map(
        ({ at, amount }) =>
          `${at}: ${amount} ${what}, and AWS takes ${most}${canBeRaised ? ' at first' : ''}. See ${source}`,
      ),
  );
