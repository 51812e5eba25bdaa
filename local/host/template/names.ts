import { createHash } from 'node:crypto';
import { LOCAL_REGION } from '../../emulators/cognito.ts';
import type { Resource } from './assembly.ts';

/** The account everything local belongs to; also fauxqs's. */
export const LOCAL_ACCOUNT = '000000000000';

const arn = (service: string, rest: string): string => `arn:aws:${service}:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${rest}`;

const hash = (resource: Resource, characters: number): string =>
  createHash('sha256').update(`${resource.stack.localName}/${resource.logicalId}`).digest('hex').slice(0, characters);

/** The values of references in templates here. The same in every run, so that data finds its place again. */
export interface Names {
  /** Value of `Ref`. */
  ref(resource: Resource): string;
  /** Value of `Fn::GetAtt`. */
  attribute(resource: Resource, name: string): string;
}

/** `given` is the resource's explicit name (resolved), if the template has one. */
type Naming = (
  resource: Resource,
  given: (property: string) => string | undefined,
) => { readonly ref: string; readonly attributes: Readonly<Record<string, string>> };

const generated = (resource: Resource): string => `${resource.stack.localName}-${resource.logicalId}`.slice(0, 80);

const table: Naming = (resource, given) => {
  const name = given('TableName') ?? generated(resource);
  return { ref: name, attributes: { Arn: arn('dynamodb', `table/${name}`), TableId: name } };
};

const queue =
  (sqsEndpoint: string): Naming =>
  (resource, given) => {
    const name = given('QueueName') ?? generated(resource);
    const url = `${sqsEndpoint}/${LOCAL_ACCOUNT}/${name}`;
    return { ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } };
  };

const userPool: Naming = (resource) => {
  const id = `${LOCAL_REGION}_${hash(resource, 9)}`;
  const host = `cognito-idp.${LOCAL_REGION}.amazonaws.com`;
  return {
    ref: id,
    attributes: {
      Arn: arn('cognito-idp', `userpool/${id}`),
      UserPoolId: id,
      ProviderName: `${host}/${id}`,
      ProviderURL: `https://${host}/${id}`,
    },
  };
};

const userPoolClient: Naming = (resource) => {
  const id = hash(resource, 26);
  return { ref: id, attributes: { ClientId: id } };
};

const lambda: Naming = (resource, given) => {
  const name = given('FunctionName') ?? generated(resource).slice(0, 64);
  return { ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } };
};

const secret: Naming = (resource, given) => {
  const id = arn('secretsmanager', `secret:${given('Name') ?? generated(resource)}-${hash(resource, 6)}`);
  return { ref: id, attributes: { Id: id } };
};

/** Names of buckets are in lower case. */
const bucket: Naming = (resource, given) => {
  const name = given('BucketName') ?? generated(resource).toLowerCase().slice(0, 63);
  return { ref: name, attributes: { Arn: `arn:aws:s3:::${name}` } };
};

const restApi: Naming = (resource) => {
  const id = hash(resource, 10);
  return { ref: id, attributes: { RestApiId: id } };
};

const other: Naming = (resource) => {
  const name = generated(resource);
  return { ref: name, attributes: { Arn: arn('local', name) } };
};

/**
 * @param resolve resolves a property of a resource, for names that are themselves references
 * @param sqsEndpoint part of every queue URL
 */
export const localNames = (resolve: (value: unknown, resource: Resource) => unknown, sqsEndpoint: string): Names => {
  const namings: Readonly<Record<string, Naming>> = {
    'AWS::DynamoDB::Table': table,
    'AWS::SQS::Queue': queue(sqsEndpoint),
    'AWS::Cognito::UserPool': userPool,
    'AWS::Cognito::UserPoolClient': userPoolClient,
    'AWS::Lambda::Function': lambda,
    'AWS::SecretsManager::Secret': secret,
    'AWS::S3::Bucket': bucket,
    'AWS::ApiGateway::RestApi': restApi,
  };
  const naming = (resource: Resource) =>
    (namings[resource.type] ?? other)(resource, (property) => {
      const value = resolve(resource.properties[property], resource);
      return typeof value === 'string' ? value : undefined;
    });
  return {
    ref: (resource) => naming(resource).ref,
    attribute: (resource, name) => naming(resource).attributes[name] ?? `${generated(resource)}.${name}`,
  };
};
