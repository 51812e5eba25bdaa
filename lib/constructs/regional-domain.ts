import { DomainName, EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';

export interface RegionalDomainProps {
  /** A host name, or `*.` and a domain for every host one level below it. */
  readonly domainName: string;
  readonly api: RestApi;
  /**
   * Validates the certificate and holds the alias record. Without one the deployment waits until the certificate's
   * validation record, shown by the certificate manager, exists wherever the DNS is, and the alias is made by hand.
   */
  readonly hostedZone?: { readonly id: string; readonly name: string } | undefined;
}

/** A custom domain of a REST API with its certificate and, where the zone is known, its alias record. */
export class RegionalDomain extends Construct {
  readonly domain: DomainName;

  constructor(scope: Construct, id: string, props: RegionalDomainProps) {
    super(scope, id);
    const zone =
      props.hostedZone &&
      HostedZone.fromHostedZoneAttributes(this, 'Zone', {
        hostedZoneId: props.hostedZone.id,
        zoneName: props.hostedZone.name,
      });
    this.domain = new DomainName(this, 'Domain', {
      domainName: props.domainName,
      certificate: new Certificate(this, 'Certificate', {
        domainName: props.domainName,
        validation: CertificateValidation.fromDns(zone),
      }),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    this.domain.addBasePathMapping(props.api);
    if (zone !== undefined) {
      new ARecord(this, 'Alias', {
        zone,
        // The dot at the end: a full name, which the zone's name is not added to.
        recordName: `${props.domainName}.`,
        target: RecordTarget.fromAlias(new ApiGatewayDomain(this.domain)),
      });
    }
  }
}
