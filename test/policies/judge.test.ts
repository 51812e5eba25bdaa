import { describe, expect, it } from '@jest/globals';
import { createResolver } from '../../local/host/template/intrinsics.ts';
import { callOf } from './calls.ts';
import { policiesInContainers } from './in-containers.ts';
import { policiesOf, starterOf } from './judge.ts';

/** A stack with one function `F`, whose role has one policy of these statements. */
const judgeOf = (...statements: readonly object[]) => {
  const stack = {
    name: 's',
    localName: 's',
    assets: new Map(),
    template: {
      Outputs: {},
      Resources: {
        F: { Type: 'AWS::Lambda::Function', Properties: { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } } },
        Role: { Type: 'AWS::IAM::Role', Properties: {} },
        Policy: {
          Type: 'AWS::IAM::Policy',
          Properties: {
            PolicyDocument: { Statement: statements.map((each) => ({ Effect: 'Allow', ...each })) },
            Roles: [{ Ref: 'Role' }],
          },
        },
      },
    },
  };
  return policiesOf({ stacks: [stack], resolve: createResolver([stack], '') });
};

const TABLE = 'arn:aws:dynamodb:eu-central-1:000000000000:table/t';
const onKeys = (...keys: readonly string[]) => ({
  Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys }, Null: { 'dynamodb:LeadingKeys': 'false' } },
});

const signed = (service: string, target: string, body: object) => {
  const call = callOf({
    method: 'POST',
    url: new URL('http://127.0.0.1/'),
    headers: { authorization: `AWS4 Credential=s-F/20260101/x/${service}/aws4_request`, 'x-amz-target': `x.${target}` },
    body: JSON.stringify(body),
  });
  return call === undefined ? [] : [call];
};
const key = (pk: string) => ({ TableName: 't', Key: { pk: { S: pk } } });

describe('the judge of recorded calls', () => {
  it('allows what a statement allows, and names the grant', () => {
    const judge = judgeOf({ Action: ['dynamodb:GetItem'], Resource: TABLE, ...onKeys('A#*') });
    expect(judge.judge(signed('dynamodb', 'GetItem', key('A#1')))).toEqual({
      used: new Set(['s-F dynamodb:GetItem table/t']),
      refused: [],
    });
  });

  it('refuses another action, resource, partition or caller', () => {
    const { judge } = judgeOf({ Action: ['dynamodb:GetItem'], Resource: TABLE, ...onKeys('A#*') });
    for (const calls of [
      signed('dynamodb', 'DeleteItem', key('A#1')),
      signed('dynamodb', 'GetItem', { ...key('A#1'), TableName: 'u' }),
      signed('dynamodb', 'GetItem', key('B#1')),
      signed('dynamodb', 'GetItem', key('A#1')).map((call) => ({ ...call, caller: 'other' })),
    ])
      expect(judge(calls).refused).toHaveLength(1);
  });

  it('wants the keys of a transaction allowed one by one and together', () => {
    const calls = signed('dynamodb', 'TransactWriteItems', {
      TransactItems: [{ Put: { TableName: 't', Item: { pk: { S: 'A#1' } } } }, { ConditionCheck: key('B#1') }],
    });
    const apart = judgeOf(
      { Action: 'dynamodb:PutItem', Resource: TABLE, ...onKeys('A#*') },
      { Action: 'dynamodb:ConditionCheckItem', Resource: TABLE, ...onKeys('B#*') },
    );
    expect(apart.judge(calls).refused).toHaveLength(2);
    const together = judgeOf({
      Action: ['dynamodb:PutItem', 'dynamodb:ConditionCheckItem'],
      Resource: TABLE,
      ...onKeys('A#*', 'B#*'),
    });
    expect(together.judge(calls).refused).toEqual([]);
  });

  it('refuses what a condition wants and the request does not have', () => {
    const { judge } = judgeOf({
      Action: 'sqs:SendMessage',
      Resource: '*',
      Condition: { StringEquals: { 'kms:ViaService': 'sqs.eu-central-1.amazonaws.com' } },
    });
    expect(judge(signed('sqs', 'SendMessage', { QueueUrl: 'http://x/1/q' })).refused).toHaveLength(1);
  });

  it('reads no condition that it does not know', () => {
    expect(() =>
      judgeOf({ Action: 'a:b', Resource: '*', Condition: { IpAddress: { 'aws:SourceIp': '::1' } } }),
    ).toThrow();
  });
});

describe('what starts a task', () => {
  it('may pull the image and write the log, and nothing else', () => {
    const { grants, judge, task, log } = policiesInContainers();
    const caller = starterOf(task);
    const ofCaller = grants.filter((grant) => grant.startsWith('gateway-') && grant.includes(' starter '));
    // @see https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task_execution_IAM_role.html
    const decide = (action: string, resource: string) => ({ action, resource, context: {} });
    const images =
      'arn:aws:ecr:eu-central-1:000000000000:repository/cdk-hnb659fds-container-assets-000000000000-eu-central-1';
    const decisions = [
      decide('ecr:GetAuthorizationToken', '*'),
      ...['BatchCheckLayerAvailability', 'GetDownloadUrlForLayer', 'BatchGetImage'].map((action) =>
        decide(`ecr:${action}`, images),
      ),
      ...['CreateLogStream', 'PutLogEvents'].map((action) =>
        decide(`logs:${action}`, `arn:aws:local:eu-central-1:000000000000:${log}`),
      ),
    ];
    const { used, refused } = judge([{ caller, operation: 'RunTask', decisions }]);
    expect(refused).toEqual([]);
    expect([...used].sort()).toEqual([...new Set(ofCaller)].sort());
  });
});
