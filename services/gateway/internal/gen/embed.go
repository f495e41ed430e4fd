// Package gen embeds what is generated from the protos for the gateway.
package gen

import _ "embed"

// OpenAPI is the generated description of the REST interface.
//
//go:embed openapi.swagger.json
var OpenAPI []byte
