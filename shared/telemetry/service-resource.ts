import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { readPackageVersion } from '../runtime/version.ts';

/**
 * Returns the attributes that describe this program to the receiver of its telemetry. OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES override them.
 * @param instance the id of this process
 */
export function serviceResource(name: string, instance: string): Resource {
  return resourceFromAttributes({
    'service.name': name,
    'service.version': readPackageVersion(),
    'service.instance.id': instance,
  }).merge(detectResources({ detectors: [envDetector] }));
}
