import { Stack, Validations } from 'aws-cdk-lib';
import { InstanceType, type ISecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, CapacityProvider, type IFunction, InstanceTypeFilter } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { ManagedInstancesSettings } from '../stage-settings.ts';
import { type PublicNetwork, upstreamPorts } from './public-network.ts';

/** What Lambda allows least. */
const MEMORY_GB_PER_PROCESSOR = 2;

export interface ManagedInstancesProps {
  readonly network: PublicNetwork;
  readonly settings: ManagedInstancesSettings;
  readonly upstreamOrigins: Readonly<Record<string, string | undefined>>;
}

/**
 * Instances of this account that Lambda starts, patches, replaces and runs functions on: a capacity provider. Its functions share the
 * instances and must trust each other, as those of one gateway do.
 */
export class ManagedInstances extends Construct {
  readonly #provider: CapacityProvider;
  readonly #settings: ManagedInstancesSettings;

  constructor(scope: Construct, id: string, { network, settings, upstreamOrigins }: ManagedInstancesProps) {
    super(scope, id);
    this.#settings = settings;
    const role = new Role(this, 'OperatorRole', {
      // Lambda takes the role for this account alone.
      assumedBy: new ServicePrincipal('lambda.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('AWSLambdaManagedEC2ResourceOperator')],
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AWSLambdaManagedEC2ResourceOperator]',
      reason: 'AWS maintains this policy: Lambda may start and tag instances that it manages, and no others.',
    });
    const instances = network.outboundGroup(
      this,
      'Instances',
      'Functions on managed instances to providers and AWS',
      upstreamPorts(upstreamOrigins),
    );
    this.#provider = new CapacityProvider(this, 'Provider', {
      subnets: network.vpc.publicSubnets,
      securityGroups: [instances as ISecurityGroup],
      operatorRole: role,
      architectures: [Architecture.ARM_64],
      instanceTypeFilter: InstanceTypeFilter.allow(settings.instanceTypes.map((type) => new InstanceType(type))),
      maxVCpuCount: settings.maxVcpus,
    });
  }

  /** Runs a function here. It cannot be taken away again: a function keeps to the capacity it was made with. */
  run(handler: IFunction): void {
    this.#provider.addFunction(handler, {
      perExecutionEnvironmentMaxConcurrency: this.#settings.requestsPerEnvironment,
      executionEnvironmentMemoryGiBPerVCpu: MEMORY_GB_PER_PROCESSOR,
      // Requests go to the alias. This version would have environments of its own, and nothing to do.
      publishToLatestPublished: false,
    });
  }
}
