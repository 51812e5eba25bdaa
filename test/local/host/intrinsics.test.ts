import { describe, expect, it } from '@jest/globals';
import { SetupError } from '../../../local/setup-error.ts';
import { appOf, stackOf } from './stack-of.ts';

const data = stackOf(
  'data',
  {
    Table: { Type: 'AWS::DynamoDB::Table' },
    Queue: { Type: 'AWS::SQS::Queue' },
    Pool: { Type: 'AWS::Cognito::UserPool' },
  },
  {
    Outputs: { TableOut: { Value: { Ref: 'Table' }, Export: { Name: 'data:Table' } } },
  },
);
const api = stackOf('api', { Fn: { Type: 'AWS::Lambda::Function' } });
const { resolve } = appOf(data, api);

describe('intrinsic functions', () => {
  it.each([
    ['a table by Ref', { Ref: 'Table' }, 'data-Table'],
    ['a queue by Ref: its URL', { Ref: 'Queue' }, 'http://127.0.0.1:4566/000000000000/data-Queue'],
    ['an attribute', { 'Fn::GetAtt': ['Queue', 'Arn'] }, 'arn:aws:sqs:eu-central-1:000000000000:data-Queue'],
    [
      'an attribute with a dot',
      { 'Fn::GetAtt': 'Table.Arn' },
      'arn:aws:dynamodb:eu-central-1:000000000000:table/data-Table',
    ],
    ['a pseudo parameter', { Ref: 'AWS::Region' }, 'eu-central-1'],
    ['Join of what is resolved', { 'Fn::Join': ['/', ['a', { Ref: 'Table' }]] }, 'a/data-Table'],
    ['a value without functions', { a: [1, true, null] }, { a: [1, true, null] }],
  ])('resolves %s', (_, value, expected) => {
    expect(resolve(value, data)).toEqual(expected);
  });

  it('resolves Sub', () => {
    const reference = (name: string) => `\${${name}}`;
    const template = ['AWS::Partition', 'Table', 'Queue.QueueName'].map(reference).join('-');
    expect(resolve({ 'Fn::Sub': template }, data)).toBe('aws-data-Table-data-Queue');
  });

  it('finds what another stack exports', () => {
    expect(resolve({ T: { 'Fn::ImportValue': 'data:Table' } }, api)).toEqual({ T: 'data-Table' });
  });

  it('gives a user pool an id that Cognito could have given', () => {
    expect(resolve({ Ref: 'Pool' }, data)).toMatch(/^eu-central-1_[0-9a-f]{9}$/);
  });

  it.each([
    ['a resource that is not there', { Ref: 'Nothing' }],
    ['an export that is not there', { 'Fn::ImportValue': 'data:Other' }],
    ['a function nobody knows', { 'Fn::Wonder': 1 }],
  ])('refuses %s', (_, value) => {
    expect(() => resolve(value, data)).toThrow(SetupError);
  });
});
